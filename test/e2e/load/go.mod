module konnectivity-bootstrap/test/load

go 1.26.0
