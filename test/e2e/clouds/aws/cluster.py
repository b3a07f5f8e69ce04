"""cluster.py COMMAND [JSON]: what a test asks AWS, or does there, beside the stack; the answer is JSON."""

import base64
import json
import sys

import boto3

region = "eu-central-1"
ec2, s3, iam, elb, sts = (boto3.client(name, region_name=region) for name in ("ec2", "s3", "iam", "elbv2", "sts"))


def make(infra_id):
    """A cluster that someone else made: network, groups, load balancer; and a decoy with names that are nearly ours."""
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
    group = lambda name: ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]
    target = lambda name, port, kind: elb.create_target_group(
        Name=name, Protocol="TCP", Port=port, VpcId=vpc, TargetType=kind
    )["TargetGroups"][0]["TargetGroupArn"]
    masters, workers, decoy = (group(f"{infra_id}{name}") for name in ("-master", "-worker", "2-bootstrap"))
    # A node, which is in the same group as the machine.
    ami = ec2.describe_images()["Images"][0]["ImageId"]
    ec2.run_instances(ImageId=ami, MinCount=1, MaxCount=1, SubnetId=subnet, SecurityGroupIds=[masters])
    for one, port in ((masters, 6443), (decoy, 8091)):
        permission = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": "10.0.0.0/16"}]}
        ec2.authorize_security_group_ingress(GroupId=one, IpPermissions=[permission])
    s3.create_bucket(Bucket=f"{infra_id}2-bootstrap", CreateBucketConfiguration={"LocationConstraint": region})
    trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]}
    iam.create_role(RoleName=f"{infra_id}2-bootstrap", AssumeRolePolicyDocument=json.dumps(trust))
    return {
        "vpcId": vpc,
        "privateSubnet": subnet,
        "masterSecurityGroupId": masters,
        "workerSecurityGroupId": workers,
        "externalApiTargetGroupArn": target("external", 6443, "ip"),
        "internalApiTargetGroupArn": target("internal", 6443, "instance"),
        "internalServiceTargetGroupArn": target("service", 22623, "ip"),
        "rhcosAmi": ami,
        "bootstrapInstanceType": "m5.xlarge",
    }


def instances():
    found = (instance for one in ec2.describe_instances()["Reservations"] for instance in one["Instances"])
    # A terminated one is shown for an hour.
    return [instance for instance in found if instance["State"]["Name"] != "terminated"]


def targets():
    groups = elb.describe_target_groups()["TargetGroups"]
    health = lambda group: elb.describe_target_health(TargetGroupArn=group["TargetGroupArn"])["TargetHealthDescriptions"]
    return [(group["TargetGroupArn"], one["Target"]["Id"], one["Target"]["Port"]) for group in groups for one in health(group)]


def everything():
    buckets = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    found = {
        "instance": instances(),
        "volume": ec2.describe_volumes()["Volumes"],
        "interface": ec2.describe_network_interfaces()["NetworkInterfaces"],
        "address": ec2.describe_addresses()["Addresses"],
        "group": ec2.describe_security_groups()["SecurityGroups"],
        "rule": ec2.describe_security_group_rules()["SecurityGroupRules"],
        "target": targets(),
        "bucket": buckets,
        "object": [(bucket, one) for bucket in buckets for one in s3.list_objects_v2(Bucket=bucket).get("Contents", [])],
        "role": iam.list_roles()["Roles"],
        "profile": iam.list_instance_profiles()["InstanceProfiles"],
    }
    return sorted(f"{kind} {json.dumps(one, sort_keys=True, default=str)}" for kind, all in found.items() for one in all)


def deployed(name, bucket):
    tags_of = lambda one: {tag["Key"]: tag["Value"] for tag in one.get("Tags", [])}
    [machine] = [instance for instance in instances() if tags_of(instance).get("Name") == name]
    identity = machine["InstanceId"]
    groups = {group["GroupId"]: group["GroupName"] for group in machine["SecurityGroups"]}
    rules = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": list(groups)}])["SecurityGroupRules"]
    theirs = lambda rule: groups[rule["GroupId"]].endswith("-master") and rule["FromPort"] == 6443
    # Nobody else may be in the group that 8091 is opened for.
    alone = lambda group: all(group not in str(one["SecurityGroups"]) for one in instances() if one["InstanceId"] != identity)
    data = ec2.describe_instance_attribute(InstanceId=identity, Attribute="userData")["UserData"]["Value"]
    members = {identity, machine["PrivateIpAddress"]}
    return {
        "machine": json.dumps({**machine, "groups": sorted(group["GroupId"] for group in machine["SecurityGroups"])}, default=str),
        "userData": data,
        "tags": tags_of(machine),
        "openPorts": [
            {
                "port": f"{rule['IpProtocol']} {rule['FromPort']}",
                "sources": [rule.get("ReferencedGroupInfo", {}).get("GroupId") or rule.get("CidrIpv4") or rule.get("CidrIpv6") or "?"],
                "destination": groups[rule["GroupId"]] if alone(rule["GroupId"]) else "more than the machine",
            }
            for rule in rules
            if not rule["IsEgress"] and not theirs(rule)
        ],
        "memberOf": [group for group, target, _ in targets() if target in members],
        "store": {
            "public": s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"],
            "owner": s3.get_bucket_ownership_controls(Bucket=bucket)["OwnershipControls"]["Rules"][0]["ObjectOwnership"],
            "encryption": s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"][0][
                "ApplyServerSideEncryptionByDefault"
            ]["SSEAlgorithm"],
        },
        "object": payload(bucket),
    }


def payload(bucket, flip=False):
    """The payload in base64; or one byte of it becomes another."""
    body = bytearray(s3.get_object(Bucket=bucket, Key="payload.ign")["Body"].read())
    if flip:
        body[100] ^= 1
        s3.put_object(Bucket=bucket, Key="payload.ign", Body=bytes(body))
    return base64.b64encode(body).decode()


def credentials(role):
    """As the metadata service of a machine with this role gives them."""
    arn = iam.get_role(RoleName=role)["Role"]["Arn"]
    given = sts.assume_role(RoleArn=arn, RoleSessionName="machine")["Credentials"]
    return {"AccessKeyId": given["AccessKeyId"], "SecretAccessKey": given["SecretAccessKey"], "Token": given["SessionToken"]}


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    known = {function.__name__: function for function in (make, everything, deployed, payload, credentials)}
    print(json.dumps(known[command](*map(json.loads, arguments))))
