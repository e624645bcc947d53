"""``warptsp devices``: what this machine and this build can do."""

from __future__ import annotations

import click

from warptsp.cli._options import echo_json, examples, json_option


@click.command(epilog=examples("warptsp devices", "warptsp devices --json"))
@json_option
def command(as_json: bool) -> None:
    """Tell what this machine and this build can do; paste it into bug reports."""
    from warptsp.devices import describe

    found = describe()
    if as_json:
        echo_json(found)
        return
    native = ", ".join(f"{name} {value}" for name, value in found["native"].items())
    click.echo(f"warptsp   {found['warptsp']}, Python {found['python']}, NumPy {found['numpy']}")
    click.echo(f"system    {found['system']}")
    click.echo(f"cpu       {found['cpu']}")
    click.echo(f"threads   {found['threads']} used by default, {found['cores']} in the machine")
    click.echo(f"simd      {', '.join(found['simd']) or 'none known'}")
    click.echo(f"native    {native}")
    for gpu in found["gpus"]:
        capability, memory = gpu["compute_capability"], gpu["memory"] / 1e9
        facts = [gpu["device"], gpu["name"], f"compute capability {capability}", f"{memory:.1f} GB"]
        if gpu["linked"]:
            facts.append(f"linked with {', '.join(gpu['linked'])}")
        click.echo(f"gpu       {', '.join(facts)}")
        if gpu["why_not"] is not None:
            click.echo(f"          not used: {gpu['why_not']}")
    if found["several"] is not None and "," in found["several"]:
        from warptsp.methods.lk import LEAST_CITIES_OF_GPUS

        several = f"{found['several']} for {LEAST_CITIES_OF_GPUS:,} cities or more and method lk"
        click.echo(f"several   {several}; --device names others")
    if found["gpu_why"] is not None:
        click.echo(f"gpu       none used: {found['gpu_why']}")
    if found["driver"] is not None:
        version, cuda = found["driver"]["version"], found["driver"]["cuda"]
        click.echo(f"driver    {version or 'of unknown version'}, for CUDA up to {cuda}")
    packages = ", ".join(f"{name} {version or 'missing'}" for name, version in found["cuda"].items())
    click.echo(f"cuda      {packages}")
    click.echo(f"kernels   {found['kernel_cache'] or 'not cached'}")
