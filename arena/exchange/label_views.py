from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from arena.corpus.models import PromptSet
from arena.exchange import import_labels
from arena.exchange.formats.problems import RefusedError
from arena.raters import access
from arena.raters.models import Role


class LabelFileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        max_length=255,
        help_text=gettext_lazy(
            "CSV, TSV, JSON, JSONL or Parquet with a column id and any of: hard, specificity,"
            " domain_knowledge, complexity, problem_solving, creativity, technical_accuracy, real_world."
            " 1 or 0; an empty cell leaves what is known as it is."
        ),
    )

    @property
    def most_bytes(self) -> int:
        return settings.MAX_UPLOAD_MB * 1024 * 1024

    @property
    def say_too_large(self) -> str:
        return _("The file is larger than %(limit)s MB; split it.") % {"limit": settings.MAX_UPLOAD_MB}

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > self.most_bytes:
            raise forms.ValidationError(self.say_too_large)
        return file


@require_http_methods(["GET", "HEAD", "POST"])
@access.admin_required
def label_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Labels of a prompt set from a file, draft or published: all rows or none."""
    prompt_set = access.get_for(PromptSet.objects.all(), request.user, Role.ADMIN, pk=pk)
    form = LabelFileForm(request.POST or None, request.FILES or None)
    checked = None
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            checked = import_labels.check(prompt_set, file.read(), file.name)
        except RefusedError as refusal:
            form.add_error("file", str(refusal.problem))
        if checked and checked.is_sound:
            changed = import_labels.apply(checked, request.user.get_username())
            words = ngettext(
                "%(count)d prompt has another label.", "%(count)d prompts have another label.", changed
            )
            messages.success(request, words % {"count": changed})
            return redirect("prompt-set", pk)
    context = {"form": form, "prompt_set": prompt_set, "checked": checked, "section": "corpus"}
    status = 422 if request.method == "POST" else 200
    return render(request, "corpus/label_file.html", context, status=status)
