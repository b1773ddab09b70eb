from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy as _

from arena.raters.models import Role


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150, label=_("User name"), validators=[UnicodeUsernameValidator()])
    role = forms.ChoiceField(choices=Role.choices, initial=Role.RESEARCHER, label=_("Role"))
