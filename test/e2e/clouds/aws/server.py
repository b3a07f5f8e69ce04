"""server.py ADDRESS PORT: moto, which plays AWS's APIs, with what it gets wrong put right.

What it does not model: operations take no time and never fail later; no quota; no load balancer and no packets behind the
rules; instances that boot; a permission is there at once. Policies count only while `/moto-api/reset-auth` says so.
"""

import sys

import xmltodict
from moto.ec2.exceptions import InvalidPermissionNotFoundError, InvalidSecurityGroupRuleIdNotFoundError
from moto.ec2.models.instances import Instance
from moto.ec2.models.security_groups import SecurityGroupBackend, SecurityGroupRule
from moto.iam.access_control import IAMPolicyStatement, PermissionResult
from moto.s3.models import S3Backend
from moto.s3.responses import S3Response
from moto.server import main


def instead_of(owner, name):
    """What is decorated takes the place of a method, and gets the original as its first argument."""

    def decorate(function):
        original = getattr(owner, name)
        setattr(owner, name, lambda *args, **options: function(original, *args, **options))

    return decorate


@instead_of(IAMPolicyStatement, "is_action_permitted")
def _(original, self, *args, **options):
    """A statement whose condition does not hold says nothing; moto takes it for a refusal, whatever its effect. The one
    condition that is made here is TLS, and what reaches this server came by it."""
    if self._statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}:
        return PermissionResult.NEUTRAL
    return original(self, *args, **options)


@instead_of(Instance, "prep_nics")
def _(original, self, nic_spec, **options):
    """A network interface that is made with an instance goes with it, unless it is said to stay; and the instance is in
    its groups. Moto lets it stay, and says that the instance is in none."""
    for interface in nic_spec:
        if "NetworkInterfaceId" not in interface:
            interface.setdefault("DeleteOnTermination", True)
    original(self, nic_spec, **options)
    if not self.security_groups:
        self.security_groups = [group for nic in self.nics.values() for group in nic.group_set]


# A rule from a group has a description too.
SecurityGroupRule.description = property(
    lambda self: self.ip_range.get("Description") or (self.source_group or {}).get("Description")
)


@instead_of(SecurityGroupBackend, "revoke_security_group_ingress")
def _(original, self, *args, security_rule_ids=None, **options):
    """A rule that is named by its id and is not there is an error of its own; moto has another one."""
    try:
        return original(self, *args, security_rule_ids=security_rule_ids, **options)
    except InvalidPermissionNotFoundError:
        if security_rule_ids:
            raise InvalidSecurityGroupRuleIdNotFoundError(security_rule_ids[0]) from None
        raise


@instead_of(S3Backend, "create_bucket")
def _(original, self, *args, **options):
    """Tags may come with a new bucket; moto forgets them."""
    bucket = original(self, *args, **options)
    if tags_of_new_bucket:
        self.put_bucket_tagging(bucket.name, dict(tags_of_new_bucket))
        tags_of_new_bucket.clear()
    return bucket


tags_of_new_bucket = {}


@instead_of(S3Response, "_get_location_constraint")
def _(original, self):
    """Called just before a bucket is made: here the request can still be seen."""
    wanted = xmltodict.parse(self.body)["CreateBucketConfiguration"] if self.body else {}
    tags = (wanted.get("Tags") or {}).get("Tag") or []
    tags_of_new_bucket.update({tag["Key"]: tag["Value"] for tag in (tags if isinstance(tags, list) else [tags])})
    return original(self)


if __name__ == "__main__":
    address, port = sys.argv[1:]
    main(["-H", address, "-p", port])
