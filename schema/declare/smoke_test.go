package declare
import ("testing";"fmt";"os")
func TestSmoke(t *testing.T) {
	b,_ := os.ReadFile("/tmp/decl/s.yaml")
	s, err := Parse("owners.yaml", "owners/runtime", b)
	fmt.Println(err)
	if err==nil {fmt.Printf("%+v\n", s.Declaration)}
}
