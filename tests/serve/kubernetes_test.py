"""deploy/kubernetes: the manifests against the schemas of Kubernetes itself, and what is in their ConfigMaps."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kubernetes_validate
import yaml

from redis_servers import Redis, free_port
from server import PROGRAM, ROOT, VERSION
from tools import TOOLS

FOLDER = ROOT / "deploy/kubernetes"
IN_THE_CLUSTER = "redis://weir-redis:6379/0"


def manifests(file):
    return list(yaml.safe_load_all(file.read_text()))


def of_kind(kind, *files):
    """(name, manifest) of all of a kind, or of those in some files."""
    paths = [FOLDER / file for file in files] or sorted(FOLDER.glob("*.yaml"))
    return {each["metadata"]["name"]: each for path in paths for each in manifests(path) if each["kind"] == kind}


def containers():
    for name, deployment in of_kind("Deployment").items():
        pod = deployment["spec"]["template"]["spec"]
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            yield name, pod, container


class Manifests(unittest.TestCase):
    def test_they_are_what_kubernetes_accepts(self):
        # Sidecars are of 1.29. Strictly: a field that no version knows is a mistake.
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


class Mounted(unittest.TestCase):
    """A folder with what the pods find in their volumes."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, *config_maps):
        for name in config_maps:
            for file, text in of_kind("ConfigMap")[name]["data"].items():
                (self.folder / file).write_text(text)

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
        self.run_in_folder(PROGRAM, "lint", "--strict", "policy.yaml")
        config = self.folder / "weir.yaml"
        with Redis("--maxmemory-policy", "noeviction") as redis:
            self.assertIn(IN_THE_CLUSTER, config.read_text())
            config.write_text(config.read_text().replace(IN_THE_CLUSTER, redis.url))
            said = self.run_in_folder(PROGRAM, "serve", "--config", "weir.yaml", "--check")
        for name, port in self.ports_of("weir").items():
            self.assertIn(f"{name} listener: [::]:{port} ", said)
        self.assertNotIn("warning", said)
        url = f"redis://{of_kind('Service')['weir-redis']['metadata']['name']}:6379/0"
        self.assertEqual(url, IN_THE_CLUSTER)

    def test_the_sidecar(self):
        self.write("shop-weir", "shop-envoy")
        self.run_in_folder(PROGRAM, "lint", "--strict", "policy.yaml")
        said = self.run_in_folder(PROGRAM, "serve", "--config", "weir.yaml", "--check")
        self.assertIn(f"admin listener: [::]:{self.ports_of('shop')['weir-admin']} ", said)
        self.assertIn("rls listener: 127.0.0.1:8081 ", said)


class Envoy(Mounted):
    def test_its_file_is_sound(self):
        self.write("shop-envoy")
        envoy = os.environ.get("WEIR_ENVOY", TOOLS / "venv/bin/envoy")
        said = self.run_in_folder(envoy, "--mode", "validate", "-c", "envoy.yaml", "--base-id", free_port())
        self.assertIn("OK", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
