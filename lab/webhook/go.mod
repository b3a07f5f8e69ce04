module konnectivity-bootstrap/lab/webhook

go 1.26.0
