#!/usr/bin/env python3
"""Lets two devices synchronise through a hub, with the programs that people use; --show prints each command.

The hub goes away and comes back, and is killed while both devices write; then one device is revoked, and the only owner is lost and
restored by the recovery code. A change must be on the other
device within 3 seconds, and within 60 seconds of the hub's return, without anybody asking; none may be lost or doubled.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from devices import LIMIT, PROGRAMS, TALLY, UNREACHABLE, Device, Failure, Hub, require, require_equal


def check(folder, shows, kill_count, absence):
    hub = Hub("--data", folder / "hub")
    laptop, phone = (Device(folder / name, shows) for name in ["laptop", "phone"])
    laptop.run("add", "Buy milk")
    invitation = laptop.run("sync", "setup", hub.address)["invitation"]
    phone.run("sync", "join", invitation)
    require(phone.titles() == {"Buy milk"}, "the first task is not on the second device")
    times = agents(hub, laptop, phone, absence)
    kills(hub, [laptop, phone], kill_count)
    refusals(hub, laptop, phone, invitation, folder)
    recovery(hub, folder, shows)
    operating(hub, folder, shows)
    hub.stop()
    encrypted(folder, shows)
    return times


def agents(hub, laptop, phone, absence):
    with laptop.agent(), phone.agent():
        laptop.run("add", "Call Ada")
        live = phone.wait("Call Ada")
        hub.stop()
        phone.run("add", "Written without the hub")
        time.sleep(absence)
        require("Written without the hub" not in laptop.titles(), "a change arrived without a hub")
        hub.start()
        back = laptop.wait("Written without the hub")
    for device in [laptop, phone]:
        device.run("sync", "now")
    hashes = {device.run("sync", "status")["stateHash"] for device in [laptop, phone]}
    require(len(hashes) == 1, "the states differ")
    return live, back


def kills(hub, devices, count):
    seed = int(os.environ.get("TALLY_SEED", random.randrange(1 << 32)))
    print(f"check-hub: TALLY_SEED={seed}", file=sys.stderr)
    generator = random.Random(seed)
    expected = devices[0].titles()
    with devices[0].agent(), devices[1].agent():
        for round in range(count):
            for number in range(generator.randint(1, 4)):
                title = f"round {round}, task {number}"
                generator.choice(devices).run("add", title)
                expected.add(title)
            time.sleep(generator.uniform(0, 0.6))
            hub.kill()
            time.sleep(generator.uniform(0, 0.3))
            hub.start()
    require_equal(devices, expected, "kills of the hub")


def refusals(hub, laptop, phone, invitation, folder):
    stranger = Device(folder / "stranger", laptop.shows)
    error = stranger.run("sync", "join", invitation, status=1)["error"]
    require(error["code"] == "hubRefused", f"a used invitation: {error}")
    require(not stranger.store.exists(), "a refused invitation leaves a store behind")
    other = phone.run("sync", "status")["replica"]
    laptop.run("sync", "revoke", other)
    phone.run("add", "Too late")
    require(phone.run("sync", "now", status=1)["error"]["code"] == "deviceRevoked", "a revoked device")
    status = phone.run("sync", "status")
    require(status["pending"] == 1, "the change of a revoked device does not wait")
    require("revoked" in (status["refused"] or ""), f"the status does not say why: {status}")
    laptop.run("sync", "now")
    require("Too late" not in laptop.titles(), "a change of a revoked device arrived")
    for device in [laptop, phone]:
        device.run("verify")


def recovery(hub, folder, shows):
    """The only owner is lost: the recovery code on paper makes another device one, which shuts the lost one out."""
    lost, phone, new, friend, late = (
        Device(folder / name, shows) for name in ["lost", "phone-2", "new", "friend", "late"])
    lost.run("add", "On the lost device")
    setup = lost.run("sync", "setup", hub.address, "--name", "lost")
    code = setup["recoveryCode"]
    phone.run("sync", "join", setup["invitation"], "--name", "phone")
    phone.run("add", "On the phone")
    phone.run("sync", "now")
    error = phone.run("sync", "invite", status=1)["error"]
    require(error["code"] == "hubRefused", f"an invitation of a writer: {error}")
    wrong = late.run("sync", "join", code[:-1] + ("1" if code[-1] == "0" else "0"), "--at", hub.address, status=64)["error"]
    require(wrong["code"] == "invalidInvitation" and not late.store.exists(), f"a mistyped code: {wrong}")
    new.run("sync", "join", code, "--at", hub.address, "--name", "new")
    require(new.titles() == {"On the lost device", "On the phone"}, "a restored owner lacks tasks")
    friend.run("sync", "join", new.run("sync", "invite")["invitation"], "--name", "friend")
    newest = new.run("sync", "revoke", lost.run("sync", "status")["replica"])["recoveryCode"]
    new.run("add", "Not for the thief")
    new.run("sync", "now")
    require(lost.run("sync", "now", status=1)["error"]["code"] == "deviceRevoked", "the lost device is not shut out")
    require("Not for the thief" not in lost.titles(), "the lost device gets what is written")
    phone.run("sync", "now")
    require("Not for the thief" in phone.titles(), "the others get nothing")
    replaced = late.run("sync", "join", code, "--at", hub.address, status=1)["error"]
    require("was replaced" in replaced["message"] and not late.store.exists(), f"the old code: {replaced}")
    new.run("sync", "role", "phone", "owner")
    friend.run("sync", "now")
    phone.run("sync", "invite")
    late.run("sync", "join", newest, "--at", hub.address, "--name", "late")
    require("Not for the thief" in late.titles(), "the new code restores nothing")
    for device in [phone, new, friend, late]:
        device.run("sync", "now")
        device.run("verify")


def operating(hub, folder, shows):
    """Beside the hub, its operator lists and erases accounts and spaces, hands them over and makes an owner."""
    def operator(*words, status=0):
        done = subprocess.run([PROGRAMS / "tally-hub", *words, "--data", folder / "hub"], capture_output=True, text=True)
        require(done.returncode == status, f"tally-hub {words} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    owner, writer = (Device(folder / name, shows) for name in ["owner", "writer"])
    words = subprocess.run(
        [TALLY, "sync", "setup", hub.address, "--store", owner.store], capture_output=True, text=True, env=owner.environment)
    require(words.returncode == 0 and "a second device an owner" in words.stderr, f"a setup at a hub: {words}")
    writer.run("sync", "join", owner.run("sync", "invite")["invitation"])
    for device in [owner, writer, owner]:
        device.run("sync", "now")
    space = owner.run("sync", "status")["space"]
    known = {line["space"]: line for line in operator("space", "list")}
    require(known[space]["members"] == {"owner": 1, "writer": 1}, f"the list of spaces: {known}")
    # Ids of accounts are the same in either case.
    account = known[space]["account"].lower()
    require([line["space"] for line in operator("space", "list", "--account", account)] == [space], "the spaces of an account")
    other = operator("account", "create", "--bytes", "5000000")[0]["account"].lower()
    require({account, other} <= {line["account"].lower() for line in operator("account", "list")}, "the list of accounts")
    operator("space", "give", space, other)
    given = {line["space"]: line for line in operator("space", "list")}[space]
    require((given["account"].lower(), given["limitInBytes"]) == (other, 5_000_000), f"a space that was given away: {given}")
    # The owner is lost together with its code.
    error = writer.run("sync", "invite", status=1)["error"]
    require(error["code"] == "hubRefused", f"an invitation of a writer: {error}")
    operator("space", "owner", space, writer.run("sync", "status")["replica"])
    writer.run("sync", "now")
    writer.run("sync", "invite")
    stats = operator("stats")[0]
    require(stats["spaces"] == len(known), f"the totals: {stats}")
    operator("account", "erase", other, status=1)
    operator("account", "erase", other, "--with-spaces")
    require(space not in {line["space"] for line in operator("space", "list")}, "an erased space is still there")
    require(other not in {line["account"].lower() for line in operator("account", "list")}, "an erased account is still there")
    operator("account", "erase", account)
    require(writer.run("sync", "now", status=75)["error"]["code"] == "syncRefused", "a device of an erased space")
    writer.run("verify")


def certificate(folder):
    """Makes a certificate that signs itself, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
        "-out", certificate], check=True, capture_output=True)
    return certificate, key


def encrypted(folder, shows):
    """TLS: a device that trusts the certificate is served, also with the one that SIGHUP brings; another one is not."""
    pair = certificate(folder)
    hub = Hub("--data", folder / "tls", "--certificate", pair[0], "--private-key", pair[1], scheme="https")
    tablet = Device(folder / "tablet", shows, SSL_CERT_FILE=str(pair[0]))
    tablet.run("sync", "setup", hub.address)
    tablet.run("add", "Over TLS")
    tablet.run("sync", "now")
    # From now on the tablet trusts another one, which the hub has once it has read its files again.
    certificate(folder)
    tablet.run("sync", "now", status=UNREACHABLE)
    hub.process.send_signal(signal.SIGHUP)
    start = time.monotonic()
    while subprocess.run([TALLY, "sync", "now", "--store", tablet.store], capture_output=True, env=tablet.environment).returncode:
        require(time.monotonic() - start < LIMIT, "the new certificate is not served")
        time.sleep(0.1)
    error = Device(folder / "untrusting", shows).run("sync", "setup", hub.address, status=UNREACHABLE)["error"]
    require(error["code"] == "syncUnreachable", f"a certificate that is not trusted: {error}")
    hub.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=5, help="how often the hub is killed")
    parser.add_argument("--absence", type=float, default=2, help="how many seconds the hub is away")
    parser.add_argument("--show", action="store_true", help="print the commands")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        live, back = check(pathlib.Path(folder), arguments.show, arguments.kills, arguments.absence)
    print(
        f"hub: a change was on the other device after {live:.1f} s, and {back:.1f} s after the hub was back from an absence of "
        f"{arguments.absence:.0f} s; killed {arguments.kills} times, nothing lost")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"check-hub: {failure}")
