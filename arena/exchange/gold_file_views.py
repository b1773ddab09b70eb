from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from arena.battles import gold_views, golds
from arena.battles.gold_forms import SHOWN, GoldFileForm, GoldForm
from arena.campaigns.models import Campaign
from arena.exchange import gold_file
from arena.raters import access
from arena.raters.models import Role


@require_POST
@never_cache
@access.admin_required
def gold_file_add(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All golds of a file or none; what is wrong stands on the campaign's page of golds."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    form = GoldFileForm(request.POST, request.FILES)
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            added = len(golds.add(campaign, gold_file.read(campaign, file.read(), file.name), request.user))
        except golds.NotGoldError as error:
            form.add_error("file", error.args[0][:SHOWN])
        else:
            words = ngettext("%(n)d gold is added.", "%(n)d golds are added.", added) % {"n": added}
            messages.success(request, words)
            return redirect("battle-golds", slug)
    return gold_views.show(request, campaign, form=GoldForm(campaign=campaign), file_form=form, status=422)
