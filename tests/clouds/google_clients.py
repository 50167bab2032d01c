# SPDX-License-Identifier: Apache-2.0
"""Runs Google's own client libraries against the fake of Google's services. They send the request bodies of opsbrain's
providers, which cloud_bodies prints and this program reads on stdin. The argument is the path of the program fake_clouds.
Each reply is read strictly: a member that Google's types do not have is an error."""
import json
import subprocess
import sys
import urllib.request

from google.api_core import exceptions
from google.api_core.future import polling
from google.cloud import compute_v1, run_v2, secretmanager_v1, tpu_v2
from google.cloud.compute_v1.services.firewalls.transports.rest import FirewallsRestTransport
from google.cloud.compute_v1.services.global_operations.transports.rest import GlobalOperationsRestTransport
from google.cloud.compute_v1.services.instances.transports.rest import InstancesRestTransport
from google.cloud.compute_v1.services.zone_operations.transports.rest import ZoneOperationsRestTransport
from google.cloud.run_v2.services.services.transports.rest import ServicesRestTransport
from google.cloud.secretmanager_v1.services.secret_manager_service.transports.rest import SecretManagerServiceRestTransport
from google.cloud.tpu_v2.services.tpu.transports.rest import TpuRestTransport
from google.iam.v1 import iam_policy_pb2
from google.oauth2.credentials import Credentials
from google.protobuf import field_mask_pb2, json_format

packages = {"run": run_v2, "compute": compute_v1, "secretmanager": secretmanager_v1, "tpu": tpu_v2}
read_loosely = json_format.Parse
json_format.Parse = lambda text, message, **_: read_loosely(text, message, ignore_unknown_fields=False)

bodies = {}
for line in sys.stdin:
    value = json.loads(line)
    bodies.setdefault(value["type"], value["body"])


def body(name):
    package, message = name.split(".")
    kind = getattr(packages[package], message)
    return kind(json_format.ParseDict(bodies[name], kind.pb(kind())))


def wait_for(operation):
    return operation.result(timeout=30, polling=polling.DEFAULT_POLLING.with_delay(initial=0.01, maximum=0.05))


def refused(kind, call, **arguments):
    try:
        call(**arguments)
    except kind:
        return
    sys.exit(f"{call.__name__} was not refused: {arguments}")


def until(look, is_so):
    for _ in range(30):
        found = look()
        if is_so(found):
            return found
    sys.exit(f"the expected state was not reached: {found}")


def gone(look, **arguments):
    """Reads a resource until it is gone; while it is being deleted, some reads can still find it."""
    for _ in range(5):
        try:
            look(**arguments)
        except exceptions.NotFound:
            return
    sys.exit(f"the resource still exists: {arguments}")


def check_cloud_run(**options):
    client = run_v2.ServicesClient(transport=ServicesRestTransport(**options))
    parent = "projects/p/locations/us-central1"
    create = {"parent": parent, "service": body("run.Service"), "service_id": "theirs"}
    made = wait_for(client.create_service(**create))
    assert made.name == f"{parent}/services/theirs", made
    refused(exceptions.Conflict, client.create_service, **create)
    got = client.get_service(name=made.name)
    assert got.terminal_condition.state.name == "CONDITION_SUCCEEDED" and got.generation > 0, got
    assert made.name in [one.name for one in client.list_services(parent=parent)]
    got.labels["team"] = "search"
    changed = run_v2.Service(name=got.name, etag=got.etag, labels=got.labels, description="not in the mask")
    changed = wait_for(client.update_service(service=changed, update_mask=field_mask_pb2.FieldMask(paths=["labels"])))
    assert changed.labels["team"] == "search" and changed.description == made.description, changed
    stale = run_v2.Service(name=got.name, etag=got.etag)
    refused(exceptions.Conflict, client.update_service, service=stale)
    assert wait_for(client.delete_service(request={"name": made.name, "etag": changed.etag})).name == made.name
    refused(exceptions.NotFound, client.get_service, name=made.name)


def check_compute_engine(**options):
    transport = InstancesRestTransport(**options)
    # The operations client that the library creates would call the real host.
    operations = compute_v1.ZoneOperationsClient(transport=ZoneOperationsRestTransport(**options))
    transport._extended_operations_services["zone_operations"] = operations
    client = compute_v1.InstancesClient(transport=transport)
    place = {"project": "p", "zone": "us-central1-a"}
    machine = body("compute.Instance")
    machine.scheduling.termination_time = "2099-01-01T00:00:00Z"
    one = {**place, "instance": machine.name}
    wait_for(client.insert(**place, instance_resource=machine))
    refused(exceptions.Conflict, client.insert, **place, instance_resource=machine)
    got = until(lambda: client.get(**one), lambda it: it.status == "RUNNING")
    assert got.network_interfaces[0].network_i_p and got.id > 0, got
    assert machine.name in [it.name for it in client.list(**place)]
    assert client.get_guest_attributes(request={**one, "query_path": "opsbrain/"}).query_value.items
    assert client.get_serial_port_output(request={**one, "port": 1, "start": -4096}).contents
    labels = compute_v1.InstancesSetLabelsRequest(labels={"team": "search"}, label_fingerprint=got.label_fingerprint)
    wait_for(client.set_labels(**one, instances_set_labels_request_resource=labels))
    refused(exceptions.PreconditionFailed, client.set_labels, **one, instances_set_labels_request_resource=labels)
    refused(exceptions.BadRequest, client.set_scheduling, **one, scheduling_resource=got.scheduling)
    wait_for(client.stop(**one))
    until(lambda: client.get(**one), lambda it: it.status == "TERMINATED")
    wait_for(client.set_scheduling(**one, scheduling_resource=got.scheduling))
    wait_for(client.start(**one))
    assert until(lambda: client.get(**one), lambda it: it.status == "RUNNING").labels["team"] == "search"
    wait_for(client.delete(**one))
    gone(client.get, **one)


def check_firewalls(**options):
    transport = FirewallsRestTransport(**options)
    operations = compute_v1.GlobalOperationsClient(transport=GlobalOperationsRestTransport(**options))
    transport._extended_operations_services["global_operations"] = operations
    client = compute_v1.FirewallsClient(transport=transport)
    firewall = body("compute.Firewall")
    one = {"project": "p", "firewall": firewall.name}
    wait_for(client.insert(project="p", firewall_resource=firewall))
    refused(exceptions.Conflict, client.insert, project="p", firewall_resource=firewall)
    assert client.get(**one).source_ranges == firewall.source_ranges
    wait_for(client.delete(**one))
    refused(exceptions.NotFound, client.get, **one)


def check_cloud_tpu(**options):
    client = tpu_v2.TpuClient(transport=TpuRestTransport(**options))
    parent = "projects/p/locations/us-east5-a"
    queued = body("tpu.QueuedResource")
    queued.tpu.node_spec[0].parent = parent
    create = {"parent": parent, "queued_resource": queued, "queued_resource_id": "gemma"}
    made = wait_for(client.create_queued_resource(**create))
    assert made.name == f"{parent}/queuedResources/gemma", made
    refused(exceptions.Conflict, client.create_queued_resource, **create)
    until(lambda: client.get_queued_resource(name=made.name), lambda it: it.state.state.name == "ACTIVE")
    assert made.name in [one.name for one in client.list_queued_resources(parent=parent)]
    node = client.get_node(name=f"{parent}/nodes/gemma")
    assert node.state.name == "READY" and node.network_endpoints[0].ip_address, node
    assert node.name in [one.name for one in client.list_nodes(parent=parent)]
    asked = tpu_v2.GetGuestAttributesRequest(name=node.name, query_path="opsbrain/", worker_ids=["0"])
    assert client.get_guest_attributes(request=asked).guest_attributes[0].query_value.items
    labelled = tpu_v2.Node(name=node.name, labels={"team": "search"})
    changed = wait_for(client.update_node(node=labelled, update_mask=field_mask_pb2.FieldMask(paths=["labels"])))
    assert changed.labels["team"] == "search", changed
    wait_for(client.stop_node(request={"name": node.name}))
    until(lambda: client.get_node(name=node.name), lambda it: it.state.name == "STOPPED")
    wait_for(client.start_node(request={"name": node.name}))
    until(lambda: client.get_node(name=node.name), lambda it: it.state.name == "READY")
    refused(exceptions.BadRequest, client.delete_queued_resource, name=made.name)
    wait_for(client.delete_queued_resource(request={"name": made.name, "force": True}))
    gone(client.get_queued_resource, name=made.name)
    gone(client.get_node, name=node.name)


def check_secrets(**options):
    client = secretmanager_v1.SecretManagerServiceClient(transport=SecretManagerServiceRestTransport(**options))
    create = {"parent": "projects/p", "secret_id": "theirs", "secret": body("secretmanager.Secret")}
    made = client.create_secret(**create)
    assert made.name == "projects/p/secrets/theirs", made
    refused(exceptions.Conflict, client.create_secret, **create)
    policy = {"bindings": [{"role": "roles/secretmanager.secretAccessor", "members": ["serviceAccount:a@p"]}]}
    policy = client.set_iam_policy(request=iam_policy_pb2.SetIamPolicyRequest(resource=made.name, policy=policy))
    assert policy.bindings[0].role == "roles/secretmanager.secretAccessor", policy
    assert client.get_secret(name=made.name).labels == made.labels
    refused(exceptions.NotFound, client.access_secret_version, name=f"{made.name}/versions/latest")
    client.delete_secret(name=made.name)
    refused(exceptions.NotFound, client.get_secret, name=made.name)


with subprocess.Popen([sys.argv[1], "cloud_run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as fake:
    introduced = json.loads(fake.stdout.readline())
    url = dict(pair.split("=", 1) for pair in introduced["endpoints"].split(",") if pair)["run"]
    token = json.load(urllib.request.urlopen(f"{url}/computeMetadata/v1/instance/service-accounts/default/token"))
    options = {"host": url, "credentials": Credentials(token["access_token"])}
    for work in [check_cloud_run, check_compute_engine, check_firewalls, check_cloud_tpu, check_secrets]:
        work(**options)
        print(f"ok    Google's own client library: {work.__name__.removeprefix('check_').replace('_', ' ')}")
    fake.stdin.close()
