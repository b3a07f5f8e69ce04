module konnectivity-bootstrap/test/clouds/providers/aws

go 1.26.2

require github.com/hashicorp/terraform-provider-aws v1.60.0

// The provider's 6.34.0: its own tags cannot be had as a Go module, and this copy adds one exported package only.
replace github.com/hashicorp/terraform-provider-aws => github.com/upbound/terraform-provider-aws v0.0.0-20260305123303-f7691456b787
