"""deploy/kubernetes: validates the manifests with the schemas of Kubernetes, and the contents of their ConfigMaps."""

import ipaddress
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import kubernetes_validate
import yaml

from redis_servers import Redis, free_port
from server import PROGRAM, ROOT, VERSION, Server
from tools import TOOLS

FOLDER = ROOT / "deploy/kubernetes"
IN_THE_CLUSTER = "redis://weir-redis:6379/0"


def manifests(file):
    return list(yaml.safe_load_all(file.read_text()))


def of_kind(kind, *files):
    """Returns (name, manifest) for all manifests of a kind, or for those in some files."""
    paths = [FOLDER / file for file in files] or sorted(FOLDER.glob("*.yaml"))
    return {each["metadata"]["name"]: each for path in paths for each in manifests(path) if each["kind"] == kind}


def containers():
    for name, deployment in of_kind("Deployment").items():
        pod = deployment["spec"]["template"]["spec"]
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            yield name, pod, container


class Manifests(unittest.TestCase):
    def test_they_are_what_kubernetes_accepts(self):
        # Sidecars need version 1.29. The validation is strict: an unknown field is an error.
        for file in sorted(FOLDER.glob("*.yaml")):
            for manifest in manifests(file):
                for version in ("1.29", kubernetes_validate.latest_version()):
                    with self.subTest(f"{file.name}, {manifest['kind']} {manifest['metadata']['name']}, {version}"):
                        kubernetes_validate.validate(manifest, version, strict=True)

    def test_a_mistake_would_be_found(self):
        wrong = of_kind("PodDisruptionBudget")["weir"]
        wrong["spec"]["maxUnavailible"] = wrong["spec"].pop("maxUnavailable")
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, "1.29", strict=True)

    def test_selectors_find_the_pods(self):
        pods = [deployment["spec"]["template"]["metadata"]["labels"] for deployment in of_kind("Deployment").values()]
        for deployment in of_kind("Deployment").values():
            self.assertIn(deployment["spec"]["selector"]["matchLabels"], pods)
        for service in of_kind("Service").values():
            self.assertIn(service["spec"]["selector"], pods)
        for budget in of_kind("PodDisruptionBudget").values():
            self.assertIn(budget["spec"]["selector"]["matchLabels"], pods)

    def test_volumes_name_config_maps_that_are_there(self):
        maps = of_kind("ConfigMap")
        for name, pod, container in containers():
            volumes = {volume["name"]: volume for volume in pod["volumes"]}
            for mount in container.get("volumeMounts", []):
                volume = volumes[mount["name"]]
                sources = volume.get("projected", {}).get("sources", [volume])
                for source in sources:
                    if "configMap" in source:
                        self.assertIn(source["configMap"]["name"], maps, name)

    def test_secrets_are_yours_to_make(self):
        self.assertEqual(of_kind("Secret"), {})
        for _, pod, _ in containers():
            for volume in pod["volumes"]:
                for source in volume.get("projected", {}).get("sources", []):
                    if "secret" in source:
                        name = source["secret"]["name"]
                        texts = [file.read_text() for file in FOLDER.glob("*.yaml")]
                        self.assertTrue(any(f"kubectl create secret generic {name} " in text for text in texts), name)

    def test_ports_that_are_named_are_there(self):
        for name, _, container in containers():
            names = {port["name"] for port in container.get("ports", [])}
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                for how in ("httpGet", "tcpSocket"):
                    if how in container.get(probe, {}):
                        self.assertIn(container[probe][how]["port"], names, name)

    def test_pods_are_locked_down(self):
        for name, pod, container in containers():
            with self.subTest(f"{name}, {container['name']}"):
                self.assertTrue(pod["securityContext"]["runAsNonRoot"])
                self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
                self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
                self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})

    def test_the_image_is_of_this_version(self):
        images = {container["image"] for _, _, container in containers() if container["name"] == "weir"}
        self.assertEqual(images, {f"weir:{VERSION}"})


HERE = "default"  # the namespace of the manifests


def reaches(pod, namespace, deployment):
    """Returns the named ports of a deployment's pods that a pod with these labels and namespace can reach."""
    labels = of_kind("Deployment")[deployment]["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"] for name, _, container in containers() if name == deployment
             for port in container.get("ports", [])}
    policies = [policy["spec"] for policy in of_kind("NetworkPolicy").values()
                if policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()]
    if not policies:
        return ports

    def matches(peer):
        wanted = peer.get("namespaceSelector", {"matchLabels": {"kubernetes.io/metadata.name": HERE}})["matchLabels"]
        return (wanted.items() <= {"kubernetes.io/metadata.name": namespace}.items()
                and peer.get("podSelector", {"matchLabels": {}})["matchLabels"].items() <= pod.items())

    rules = [rule for policy in policies for rule in policy["ingress"]]
    return {port["port"] for rule in rules if "from" not in rule or any(map(matches, rule["from"]))
            for port in rule["ports"]}


class Access(unittest.TestCase):
    """Network access, and trusted proxies."""

    def test_every_pod_has_a_network_policy(self):
        selected = [policy["spec"]["podSelector"]["matchLabels"] for policy in of_kind("NetworkPolicy").values()]
        for deployment in of_kind("Deployment").values():
            self.assertIn(deployment["spec"]["selector"]["matchLabels"], selected)

    def test_a_pod_that_is_no_client_reaches_nothing_of_weir(self):
        for labels in {}, {"app.kubernetes.io/name": "shop"}, {"app.kubernetes.io/name": "weir-redis"}:
            self.assertEqual(reaches(labels, HERE, "weir"), set())
        self.assertEqual(reaches({"weir.access": "client"}, "elsewhere", "weir"), set())

    def test_clients_ask_and_prometheus_reads(self):
        self.assertEqual(reaches({"weir.access": "client"}, HERE, "weir"), {"http", "rls"})
        self.assertEqual(reaches({}, "monitoring", "weir"), {"admin"})

    def test_everybody_reaches_the_envoy_of_the_sidecar_and_prometheus_its_weir(self):
        self.assertEqual(reaches({}, HERE, "shop"), {"http"})
        self.assertEqual(reaches({}, "monitoring", "shop"), {"http", "weir-admin"})

    def test_only_weir_reaches_redis(self):
        self.assertEqual(reaches({"weir.access": "client"}, HERE, "weir-redis"), set())
        self.assertEqual(reaches({"app.kubernetes.io/name": "weir"}, HERE, "weir-redis"), {"redis"})

    def test_listeners_that_others_reach_have_tokens(self):
        for name in "weir-config", "shop-weir":
            listeners = yaml.safe_load(of_kind("ConfigMap")[name]["data"]["weir.yaml"])["listeners"]
            self.assertEqual(set(listeners), {"http", "rls", "resp", "admin"}, "none is on by default")
            for listener, how in listeners.items():
                if how and not how["listen"].startswith("127.0.0.1:"):  # `off` is false
                    with self.subTest(f"{name}, {listener}"):
                        self.assertEqual((how.get("exposed"), how.get("token_file")), (None, f"{listener}.token"))

    def test_few_addresses_are_trusted(self):
        for name in "weir-policy", "shop-weir":
            policy = yaml.safe_load(of_kind("ConfigMap")[name]["data"]["policy.yaml"])
            for trusted in policy["identity"]["trusted_proxies"]:
                self.assertGreaterEqual(ipaddress.ip_network(trusted).prefixlen, 24, f"{name}: {trusted}")


class Mounted(unittest.TestCase):
    """Creates a folder with what the pods find in their volumes."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, *config_maps):
        for name in config_maps:
            for file, text in of_kind("ConfigMap")[name]["data"].items():
                (self.folder / file).write_text(text)

    def write_tokens(self, *listeners):
        """Writes them as a projected Secret does."""
        for listener in listeners:
            file = self.folder / f"{listener}.token"
            file.write_text(f"the token of {listener}".replace(" ", "-"))
            file.chmod(0o440)

    def run_in_folder(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


class Files(Mounted):
    def ports_of(self, deployment):
        return {port["name"]: port["containerPort"] for name, _, container in containers()
                if name == deployment and container["name"] == "weir" for port in container["ports"]}

    def test_the_service(self):
        self.write("weir-config", "weir-policy")
        self.write_tokens("http", "rls", "admin")
        self.run_in_folder(PROGRAM, "lint", "--strict", "policy.yaml")
        config = self.folder / "weir.yaml"
        with Redis("--maxmemory-policy", "noeviction") as redis:
            self.assertIn(IN_THE_CLUSTER, config.read_text())
            config.write_text(config.read_text().replace(IN_THE_CLUSTER, redis.url))
            said = self.run_in_folder(PROGRAM, "serve", "--config", "weir.yaml", "--check")
        for name, port in self.ports_of("weir").items():
            self.assertIn(f"{name} listener: [::]:{port} ", said)
        warnings = [line for line in said.splitlines() if line.startswith("warning")]
        expected = "the token is sent in clear text; add tls"
        self.assertEqual([line for line in warnings if not line.endswith(expected)], [])
        url = f"redis://{of_kind('Service')['weir-redis']['metadata']['name']}:6379/0"
        self.assertEqual(url, IN_THE_CLUSTER)

    def test_the_sidecar(self):
        self.write("shop-weir", "shop-envoy")
        self.write_tokens("admin")
        self.run_in_folder(PROGRAM, "lint", "--strict", "policy.yaml")
        said = self.run_in_folder(PROGRAM, "serve", "--config", "weir.yaml", "--check")
        self.assertIn(f"admin listener: [::]:{self.ports_of('shop')['weir-admin']} ", said)
        self.assertIn("rls listener: 127.0.0.1:8081 ", said)

    def test_what_has_no_token_is_refused_but_for_probes(self):
        self.write("weir-config", "weir-policy")
        self.write_tokens("http", "rls", "admin")
        config = re.sub(r'":80\d\d"', "127.0.0.1:0", (self.folder / "weir.yaml").read_text())
        report = json.dumps({"path": "/", "user": "another", "actual": 1_000_000})
        with Redis("--maxmemory-policy", "noeviction") as redis:
            config = config.replace(IN_THE_CLUSTER, redis.url).replace("grace: 5s", "grace: 0s")
            with Server((self.folder / "policy.yaml").read_text(), config, self.folder) as weir:
                for path in "/v1/report", "/v1/check":
                    self.assertEqual(weir.ask("POST", path, report)[0], 401, path)
                self.assertEqual(weir.ask("GET", "/metrics", listener="admin")[0], 401)
                shown = {"X-Weir-Token": "the-token-of-http"}
                self.assertEqual(weir.ask("POST", "/v1/check", '{"path": "/", "user": "mine"}', shown)[0], 200)
                shown = {"Authorization": "Bearer the-token-of-admin"}
                self.assertEqual(weir.ask("GET", "/metrics", headers=shown, listener="admin")[0], 200)
                for listener in "http", "admin":
                    self.assertEqual(weir.ask("GET", "/readyz", listener=listener)[0], 200)


def envoy_settings(text, cluster):
    """The settings that determine how an Envoy calls Weir, and what it does under load."""
    config = yaml.safe_load(text)
    manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    clusters = {each["name"]: each for each in config["static_resources"]["clusters"]}
    asked = {key: value for key, value in clusters[cluster].items() if key not in ("name", "load_assignment")}
    limits = {**manager["http_filters"][0]["typed_config"], "rate_limit_service": None}
    return [config["layered_runtime"], config["overload_manager"], manager["http2_protocol_options"], limits, asked]


class Envoy(Mounted):
    def test_it_asks_as_the_example_does(self):
        example = (ROOT / "examples/envoy/envoy.yaml").read_text()
        of_the_pod = of_kind("ConfigMap")["shop-envoy"]["data"]["envoy.yaml"]
        self.assertEqual(envoy_settings(of_the_pod, "weir"), envoy_settings(example, "weir_rls"))

    def test_its_file_is_sound(self):
        self.write("shop-envoy")
        envoy = os.environ.get("WEIR_ENVOY", TOOLS / "venv/bin/envoy")
        said = self.run_in_folder(envoy, "--mode", "validate", "-c", "envoy.yaml", "--base-id", free_port())
        self.assertIn("OK", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
