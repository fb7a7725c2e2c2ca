"""What the scripted agents say: short or long thoughts put together from templates."""

from __future__ import annotations

from .dice import Dice

SHORT: dict[str, tuple[str, ...]] = {
    "read": (
        "Look at {about}.",
        "Open {about} first.",
        "What does {about} say?",
        "Read {about} again.",
        "Check {about}.",
        "I need to see {about}.",
        "Back to {about}.",
        "Let me view {about}.",
    ),
    "search": (
        "Search near {about}.",
        "Is there anything else on {about}?",
        "Find uses of {about}.",
        "Grep around {about}.",
        "Where else is {about} handled?",
        "Look for hints on {about}.",
    ),
    "edit": (
        "Change {about}.",
        "Fix {about} now.",
        "Try another form of {about}.",
        "{about} looks wrong, edit it.",
        "Rewrite the line in {about}.",
        "This should repair {about}.",
        "Adjust {about}.",
        "Patch {about}.",
    ),
    "verify": (
        "Measure.",
        "Does {about} hold now?",
        "Run the check.",
        "See whether {about} is right.",
        "Verify {about}.",
        "Check the effect.",
        "Test it.",
        "And the result?",
    ),
    "job": ("Start the long run.", "Kick off the background job.", "Let the slow job run.", "Queue the big one."),
    "poll": (
        "Is it done?",
        "Wait for the job.",
        "Ask again.",
        "Still waiting.",
        "Poll once more.",
        "Not finished yet?",
    ),
    "batch": ("Next one: {about}.", "Go through them all, now {about}.", "Same for {about}.", "And {about}."),
    "note": ("Write the plan down.", "Plan for {about}.", "Restate the plan.", "Note the idea on {about}."),
    "undo": ("That was worse, undo {about}.", "Put {about} back.", "Revert {about}."),
    "submit": ("Done, submit.", "I am finished.", "Hand it in.", "Submit the work."),
}

REASONS = (
    "The last result does not tell me enough yet",
    "I would rather look than guess",
    "One thing at a time keeps this simple",
    "The rest seems to be in order",
    "There may be a detail I have overlooked",
    "I have an idea what is going on here",
    "This part looked odd to me from the start",
    "So far the evidence is mixed",
    "The names suggest what is meant",
    "It costs little and may save a detour",
    "The numbers do not add up yet",
    "Nothing else explains what I saw",
)
OUTLOOK = (
    "after that I decide how to go on",
    "then the picture should be clearer",
    "if it fails I take another way",
    "this should bring us closer",
    "I expect a small step forward",
    "then I compare with what was asked",
    "the next step depends on it",
    "if I am right the count goes up",
    "otherwise I go back one step",
    "and then the remaining parts",
    "so that no part is forgotten",
    "it may well be the last obstacle",
)

PLANS = (
    "First {verb} {about}, then {check}.",
    "Plan: {verb} {about}; {check}.",
    "The next step is to {verb} {about} and {check}.",
    "I will {verb} {about} before I {check}.",
    "To make progress, {verb} {about}, after which I {check}.",
    "Idea: {verb} {about} carefully and {check}.",
    "We should {verb} {about}, and afterwards {check}.",
)
VERBS = ("look into", "examine", "analyse", "go over", "review", "inspect", "study", "re-examine")
CHECKS = (
    "measure again",
    "run the check",
    "verify the result",
    "confirm that it holds",
    "see what changes",
    "check the outcome",
)


def say(move: str, about: str, style: str, dice: Dice) -> str:
    """A thought for a move; the long style gives a reason and an outlook as well."""
    text = dice.pick(SHORT[move]).format(about=about)
    if style == "brief":
        return text
    outlook = dice.pick(OUTLOOK)
    return f"{dice.pick(REASONS)}. {text} {outlook[0].upper()}{outlook[1:]}."


def plan(about: str, dice: Dice) -> str:
    """The same plan in other words."""
    return dice.pick(PLANS).format(verb=dice.pick(VERBS), about=about, check=dice.pick(CHECKS))
