module konnectivity-bootstrap/test/bench/load

go 1.26.0
