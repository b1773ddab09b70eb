"""Index of the rooms' models: Django looks here, and a model may change rooms without a migration."""

from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote, Exclusion, Retraction, Vote
from arena.battles.pair_models import PairCount, PairWeight
from arena.battles.seal_models import Seal
from arena.campaigns.choice_models import Choice
from arena.campaigns.models import Campaign, Guide, Invite
from arena.corpus.generation_models import GenerationCall, GenerationRecipe, GenerationRun
from arena.corpus.label_models import LabelCall, LabelChange, LabelRun, SpotCheck
from arena.corpus.models import Arrival, Competitor, Prompt, PromptSet, Response
from arena.corpus.redaction_models import Sweep
from arena.corpus.rename_models import Rename
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.exchange.export_models import Export
from arena.exchange.models import Import, Origin
from arena.judging.calibration_models import Calibration, CalibrationLabel, Measurement
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment, Probe, Rubric
from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.card_models import JudgeCard, RunFigures
from arena.leaderboards.models import (
    CategoryRating,
    Leaderboard,
    PairResult,
    Snapshot,
    SnapshotChart,
    Standing,
)
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.report.report_models import ReportText
from arena.leaderboards.run_models import SnapshotRun
from arena.raters.models import Membership, NamesSeen, Rater, Team, TokenName

__all__ = [
    "AnalysisPlan",
    "Arrival",
    "Battle",
    "BattleNote",
    "Calibration",
    "CalibrationLabel",
    "Call",
    "CallAttempt",
    "Campaign",
    "CampaignAgreement",
    "CategoryRating",
    "Choice",
    "Competitor",
    "Endpoint",
    "Exclusion",
    "Export",
    "GenerationCall",
    "GenerationRecipe",
    "GenerationRun",
    "Gold",
    "Guide",
    "Import",
    "Invite",
    "Judge",
    "JudgeCall",
    "JudgeCard",
    "JudgeRun",
    "Judgment",
    "LabelCall",
    "LabelChange",
    "LabelRun",
    "Leaderboard",
    "Measurement",
    "Membership",
    "NamesSeen",
    "Origin",
    "PairCount",
    "PairResult",
    "PairWeight",
    "Probe",
    "Prompt",
    "PromptSet",
    "Rater",
    "Reading",
    "Rename",
    "ReportText",
    "Response",
    "Retraction",
    "Rubric",
    "RunFigures",
    "Seal",
    "Snapshot",
    "SnapshotChart",
    "SnapshotRun",
    "SpotCheck",
    "Standing",
    "Sweep",
    "Team",
    "TokenName",
    "Vote",
]
