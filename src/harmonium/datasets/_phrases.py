"""Phrases of the texts that `make_reviews` and `make_documents` put together.

A sentence of a topic is a subject, a predicate and, more often than not, an aside; "/" separates alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Phrases(NamedTuple):
    """What sentences of a topic are made of; "/" separates alternatives."""

    subjects: str
    predicates: str
    asides: str

    def sentence(self, rng: np.random.Generator) -> str:
        """Return a sentence that is drawn at random."""
        places = [rng.choice(place.split("/")) for place in self]
        sentence = f"{places[0]} {places[1]}" + (f", {places[2]}" if rng.random() < 0.6 else "")
        return f"{sentence[0].upper()}{sentence[1:]}."


def text_of(rng: np.random.Generator, phrases: Mapping[str, Phrases], topics: list[str], filler: Phrases) -> str:
    """Return a text with one to three sentences on each topic, in any order, and perhaps one that says nothing."""
    sentences = [phrases[topic].sentence(rng) for topic in topics for _ in range(rng.integers(1, 4))]
    rng.shuffle(sentences)
    return " ".join([filler.sentence(rng), *sentences] if rng.random() < 0.6 else sentences)


#: what guests of a house by the sea write about
REVIEW_TOPICS = {
    "kind staff": Phrases(
        "the staff/our host/the owner/everyone at the reception/the young man at the bar/the whole family/the waitress",
        "was helpful from the first minute/went out of their way for us/always had a smile and good advice/"
        "remembered our names/was warm and attentive/arranged a taxi and a picnic/welcomed us with a drink",
        "a rare kindness/nothing was too much trouble/we felt like friends/such lovely people/polite and cheerful",
    ),
    "breakfast": Phrases(
        "the breakfast/the buffet/the home-made bread/the coffee/the fruit salad/the porridge/the orange juice",
        "was fresh and plentiful/tasted delicious/was the best we had in years/kept us going until dinner/"
        "came with eggs, cheese and honey/was served on the terrace/changed every morning",
        "with butter and jam/even the croissants were warm/vegetarians eat well here/worth getting up for/still hot",
    ),
    "sea view": Phrases(
        "the view/our balcony/the window/the terrace on the roof/the sunset/the panorama/the room upstairs",
        "looked straight over the bay/took our breath away/showed boats, cliffs and the lighthouse/faced the ocean/"
        "was stunning at dusk/let us watch the ferries/opened to the beach and the waves",
        "simply breathtaking/we heard only waves/bring a camera/the sky turned pink/gulls and all",
    ),
    "good beds": Phrases(
        "the bed/the mattress/the pillow/the linen sheet/the duvet/the sofa/the bedroom",
        "was soft and comfortable/let us sleep like babies/felt like a cloud/was wide enough for three/"
        "smelled of lavender/was better than at home/supported my back",
        "a real luxury/crisp and white/we overslept every day/so cosy/deep sleep guaranteed",
    ),
    "location": Phrases(
        "the old town/the station/the museum quarter/the harbour/the market/the tram stop/everything worth seeing",
        "is a short walk away/lies around the corner/can be reached on foot/is five minutes from the door/"
        "was perfectly close/is just across the bridge/is within strolling distance",
        "no car needed/an ideal base/shops and restaurants nearby/could not be more central/very convenient",
    ),
    "dirt": Phrases(
        "the bathroom/the carpet/the shower/the floor/the curtain/the bath mat/the corner behind the toilet",
        "was dirty/was covered in stains/had mould along the tiles/was full of hair and dust/had not been cleaned/"
        "smelled of damp and smoke/was sticky and grey",
        "disgusting/cockroaches included/nobody had mopped/we found crumbs/filthy beyond belief",
    ),
    "noise": Phrases(
        "the street/the club downstairs/the lift/the couple next door/the rubbish truck/the karaoke/the disco",
        "kept us awake/was loud until four/banged and shouted all night/came right through the thin doors/"
        "started drilling at dawn/made music past midnight/gave us no quiet hour",
        "earplugs did not help/we hardly slept/a headache every morning/unbearable on weekends/bass in the bones",
    ),
    "rude desk": Phrases(
        "the desk/the manager/the receptionist/the lady on the phone/the night porter/the clerk/the person in charge",
        "was rude and ignored us/refused to listen/lost our booking/let us wait an hour in the lobby/"
        "shrugged and hung up/blamed us for the mistake/argued about the reservation",
        "no apology/we asked twice/never seen such arrogance/our complaint went nowhere/zero interest in guests",
    ),
    "cold rooms": Phrases(
        "the heating/the radiator/the hot water/the air conditioning/the boiler/the thermostat/the old window frame",
        "was broken/did not work/failed on the second day/gave up at night/let the draught in/dripped and rattled/"
        "left us freezing",
        "we wore coats/only cold showers/an extra blanket took two days/the plumber never came/nobody could repair it",
    ),
    "hidden costs": Phrases(
        "the bill/the deposit/the parking/the minibar/the resort fee/the credit card charge/the final invoice",
        "was far higher than quoted/came as a surprise/was charged twice/added sixty euros/was never refunded/"
        "was not mentioned online/doubled the price",
        "pure greed/read the small print/overpriced for what it is/not worth the money/a tax on top",
    ),
}

REVIEW_FILLER = Phrases(
    "we/the two of us/my sister and I/our group/the four of us/my husband and I",
    "stayed for three nights/came here in spring/spent a week/booked at short notice/visited for the second time/"
    "stopped here on the way south",
    "as we had planned/after a long journey/for a birthday/with friends",
)

#: what people write on the notice board of a town
DOCUMENT_TOPICS = {
    "astronomy": Phrases(
        "the telescope/a comet/the observatory/Saturn with its rings/the eclipse/my star chart/the nebula in Orion",
        "was visible above the horizon/needs a new eyepiece/will rise shortly after midnight/looked sharp at low "
        "magnification/passed close to Jupiter/is best seen away from street lamps/showed craters and moons",
        "a faint galaxy beside it/use red light/the orbit takes decades/meteors came by dozens/bring a dark filter",
    ),
    "baking": Phrases(
        "the sourdough/this loaf/my oven/the rye flour/the yeast/the crust/a pinch of salt",
        "has to rest overnight/rises faster in a warm kitchen/came out crisp and brown/needs more kneading/"
        "was too wet to fold/smelled of caraway/bakes at high heat with steam",
        "weigh the dough first/butter the tin/the crumb stayed moist/feed the starter daily/a spoonful of sugar helps",
    ),
    "cycling": Phrases(
        "the bicycle/my rear wheel/the chain/the brake cable/the saddle/a puncture/the path along the canal",
        "wants a drop of oil/squeaks on every climb/was fixed at the workshop/slipped a gear downhill/"
        "is ready for the Sunday ride/lost two spokes/needs a pump and a patch",
        "helmets please/forty kilometres against the wind/mind the gravel/the new tyres grip well/lights and bell on",
    ),
    "gardening": Phrases(
        "the tomato patch/my rose bush/the compost/the hedge/a bed of beans/the lettuce/the apple tree",
        "needs watering every evening/was eaten by slugs/should be pruned in winter/grows well in clay/"
        "wants more sun and less shade/flowered early/was planted too deep",
        "mulch the roots/sow again in autumn/the soil is poor/a handful of manure helps/greenfly everywhere",
    ),
    "chess": Phrases(
        "the endgame/white's queen/a pawn on the seventh rank/the Sicilian/our second board/the bishop pair/the knight",
        "decided the match/was sacrificed on move twenty/came under attack/castled too late/drew by repetition/"
        "gave check and won a rook/missed a mate in three",
        "the clock ran out/analysis next Friday/a quiet opening/their captain resigned/worth a study",
    ),
    "sailing": Phrases(
        "the dinghy/the mainsail/our skipper/the anchor/the tide/the regatta/a squall from the west",
        "turned at the buoy/was reefed before the gale/ran aground on the sandbank/left the harbour at slack water/"
        "capsized twice/needs a coat of varnish/held in eight fathoms",
        "life jackets on/crew wanted/the forecast was wrong/wind against current/mooring fees are due",
    ),
    "health": Phrases(
        "the doctor/my knee/the vaccine/the clinic/a cough/the prescription/the physiotherapist",
        "advised rest and fluids/hurts on the stairs/is given on Thursdays/asked about fever and pain/"
        "lowered my blood pressure/has a waiting list/took two tablets a day",
        "no side effects so far/ask the pharmacist/the symptoms are gone/exercise helps/the nurse was patient",
    ),
    "council": Phrases(
        "the council/the mayor/the budget/a petition/the new bypass/the planning committee/the library roof",
        "was debated until late/will be put to a vote/needs four hundred signatures/was rejected by a majority/"
        "costs more than last year/asked residents to comment/is to be financed by taxes",
        "minutes are online/the opposition abstained/a public hearing follows/schools come first/elections are near",
    ),
}

DOCUMENT_FILLER = Phrases(
    "hello all:/dear neighbours:/a quick note:/good evening:/one more thing:",
    "thank you for the many answers/as promised last week/please reply here/I hope this helps someone/"
    "sorry for the late message/any thoughts are welcome",
    "have a good weekend/see you soon/kind regards/more later",
)
