"""The content hash of a published set leaves out the labels of hardness, which may change after publishing."""

import hashlib
import json

from django.db import migrations

HASHED = ("external_id", "messages", "category", "language", "tags", "reference")


def hash_anew(apps, schema_editor):
    PromptSet, Prompt = (apps.get_model("arena", name) for name in ("PromptSet", "Prompt"))
    for prompt_set in PromptSet.objects.exclude(content_hash=""):
        hashes = []
        for prompt in Prompt.objects.filter(prompt_set=prompt_set).values(*HASHED).iterator():
            line = json.dumps(prompt, sort_keys=True, separators=(",", ":"))
            hashes.append((prompt["external_id"], hashlib.sha256(line.encode()).hexdigest()))
        whole = "".join(f"{line}\n" for _id, line in sorted(hashes))
        prompt_set.content_hash = hashlib.sha256(whole.encode()).hexdigest()
        prompt_set.save(update_fields=["content_hash"])


class Migration(migrations.Migration):

    dependencies = [
        ("arena", "0019_label_runs_are_runs_of_calls"),
    ]

    operations = [
        # The hashes of before aren't wanted back.
        migrations.RunPython(hash_anew, migrations.RunPython.noop, elidable=True),
    ]
