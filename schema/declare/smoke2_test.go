package declare
import ("testing";"fmt")
func TestSmoke2(t *testing.T) {
	b, err := OwnersSchema()
	fmt.Println(string(b), err)
}
