from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext_lazy as _

from arena.raters.models import Role, Team
from arena.row_form import RowForm

LONGEST_NAME = 150  # characters; Django's own limit


class SignInForm(AuthenticationForm):
    def __init__(self, *args, **kwargs) -> None:
        """Django's tells browsers how long a name may be, and believes them."""
        super().__init__(*args, **kwargs)
        self.fields["username"].validators.append(MaxLengthValidator(LONGEST_NAME))


class TeamForm(RowForm):
    class Meta:
        model = Team
        fields = ("name",)
        labels = {"name": _("Name of the team")}
        help_texts = {"name": _("References to snapshots and exports name it as their author.")}


class MemberForm(forms.Form):
    username = forms.CharField(
        max_length=LONGEST_NAME, label=_("User name"), validators=[UnicodeUsernameValidator()]
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.RESEARCHER, label=_("Role"))
