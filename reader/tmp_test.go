package reader_test
import ("testing";"fmt";"context")
func BenchmarkTmpChanged(b *testing.B){
	s := benchState(b, 300); r := s.open(); view(b,r)
	var texts [][]byte
	for i := range 64 { texts = append(texts, s.text("owner_2","field_2_1",fmt.Sprint(i))) }
	b.ReportAllocs()
	i := 0
	for b.Loop() { b.StopTimer(); s.put("owner_2", texts[i%64]); i++; b.StartTimer(); r.View(context.Background()) }
}
