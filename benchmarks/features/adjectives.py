"""Common English adjectives that praise or blame, as reviews of any kind use them.

Words whose sense hangs on the thing reviewed (small, cheap, hot, dark) are left out, and so are those which mostly
serve another purpose (pretty, kind, mean).
"""

from __future__ import annotations

_POSITIVE = """
    accommodating adorable affordable airy amazing ample amusing appealing attentive attractive authentic awesome
    beautiful best bright brilliant
    capable caring charming cheerful classy clean clever comfortable comfy compelling competent considerate convenient
    cosy courteous cozy crisp
    decent delicious delightful dependable durable
    easy effective efficient elegant engaging enjoyable entertaining enthusiastic excellent exceptional exciting
    extraordinary
    fabulous fair fantastic fascinating fast favorite favourite fine flawless flexible fresh friendly fun
    generous genuine glad good gorgeous gracious grateful great
    happy heavenly helpful honest hospitable
    ideal immaculate impeccable impressed impressive incredible informative innovative inspiring interesting inviting
    knowledgeable
    lively lovely luxurious
    magnificent marvellous marvelous memorable modern
    nice
    outstanding
    peaceful perfect phenomenal pleasant pleased polished polite positive pristine professional prompt
    quick quiet
    refreshing relaxed relaxing reliable remarkable responsive rewarding rich
    safe satisfied satisfying scenic sleek smart smooth solid sophisticated spacious sparkling spectacular splendid
    spotless stellar stunning sturdy stylish super superb superior supportive sweet
    tasteful tasty terrific thoughtful thrilled tidy tranquil trustworthy
    unbeatable unforgettable unique upscale useful
    valuable vibrant
    warm welcoming wonderful wondrous worth worthwhile worthy
"""
_NEGATIVE = """
    abysmal aggressive angry annoying appalling arrogant ashamed atrocious awful awkward
    bad bland boring broken buggy
    careless chaotic clueless cluttered confusing costly cramped crappy crowded
    damaged damp dangerous dated defective depressing dilapidated dingy dirty disappointed disappointing disgraceful
    disgusted disgusting dishonest dismal dismissive disorganised disorganized dissatisfied dodgy drab dreadful dreary
    dull dusty
    embarrassing expensive
    faulty filthy flawed flimsy forgettable foul frustrating
    gloomy greasy grimy gross grubby
    hideous horrendous horrible horrid horrific hostile
    impatient impolite inadequate incompetent inconvenient inedible inefficient inept inferior insufficient irritating
    lackluster lame lazy loud lousy
    mediocre messy miserable misleading moldy mouldy musty
    nasty negative noisy
    obnoxious offensive outdated overcrowded overpriced overrated
    painful pathetic peeling pitiful pointless poor
    questionable
    ridiculous rotten rude rusty
    sad shabby shameful shocking shoddy sleazy sloppy slow sluggish smelly stained stale stressful stupid subpar
    substandard
    tacky tasteless tedious terrible threadbare tired
    ugly unacceptable unbearable unclean unclear uncomfortable unfortunate unfriendly unhappy unhelpful uninspired
    unpleasant unprofessional unreliable unresponsive unsafe unsatisfactory unusable unwelcoming upset useless
    weak weird worn worse worst worthless wrong
"""

POSITIVE_ADJECTIVES: frozenset[str] = frozenset(_POSITIVE.split())
NEGATIVE_ADJECTIVES: frozenset[str] = frozenset(_NEGATIVE.split())
