"""When raters learn which model wrote what: by the campaign's policy, and only of their own votes."""

from arena.campaigns.models import Campaign


def after_each_vote(campaign: Campaign) -> bool:
    return campaign.reveal == Campaign.Reveal.AFTER_VOTE


def names_are_out(campaign: Campaign) -> bool:
    """Whether its raters may see the names behind their votes now."""
    is_closed = campaign.status == Campaign.Status.CLOSED
    return after_each_vote(campaign) or (is_closed and campaign.reveal == Campaign.Reveal.AFTER_CLOSE)
