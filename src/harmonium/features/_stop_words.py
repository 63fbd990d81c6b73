"""English stop words in the manner of the SMART retrieval system's list."""

from __future__ import annotations

_WORDS = """
    a able about above according accordingly across actually after afterwards again against ain't all allow allows
    almost alone along already also although always am among amongst an and another any anybody anyhow anyone anything
    anyway anyways anywhere apart appear appreciate appropriate are aren't around as a's aside ask asking associated at
    available away awfully
    b be became because become becomes becoming been before beforehand behind being believe below beside besides best
    better between beyond both brief but by
    c came can cannot cant can't cause causes certain certainly changes clearly c'mon co com come comes concerning
    consequently consider considering contain containing contains corresponding could couldn't course c's currently
    d definitely described despite did didn't different do does doesn't doing done don't down downwards during
    e each edu eg eight either else elsewhere enough entirely especially et etc even ever every everybody everyone
    everything everywhere ex exactly example except
    f far few fifth first five followed following follows for former formerly forth four from further furthermore
    g get gets getting given gives go goes going gone got gotten greetings
    h had hadn't happens hardly has hasn't have haven't having he he'd he'll hello help hence her here hereafter hereby
    herein here's hereupon hers herself he's hi him himself his hither hopefully how howbeit however how's
    i i'd ie if ignored i'll i'm immediate in inasmuch inc indeed indicate indicated indicates inner insofar instead
    into inward is isn't it it'd it'll its it's itself i've
    j just
    k keep keeps kept know known knows
    l last lately later latter latterly least less lest let let's like liked likely little look looking looks ltd
    m mainly many may maybe me mean meanwhile merely might mightn't more moreover most mostly much must mustn't my
    myself
    n name namely nd near nearly necessary need needn't needs neither never nevertheless new next nine no nobody non
    none noone nor normally not nothing novel now nowhere
    o obviously of off often oh ok okay old on once one ones only onto or other others otherwise ought our ours
    ourselves out outside over overall own
    p particular particularly per perhaps placed please plus possible presumably probably provides
    q que quite qv
    r rather rd re really reasonably regarding regardless regards relatively respectively right
    s said same saw say saying says second secondly see seeing seem seemed seeming seems seen self selves sensible sent
    serious seriously seven several shall shan't she she'd she'll she's should shouldn't since six so some somebody
    somehow someone something sometime sometimes somewhat somewhere soon sorry specified specify specifying still sub
    such sup sure
    t take taken tell tends th than thank thanks thanx that that'll that's thats the their theirs them themselves then
    thence there thereafter thereby therefore therein there's theres thereupon these they they'd they'll they're
    they've think third this thorough thoroughly those though three through throughout thru thus to together too took
    toward towards tried tries truly try trying t's twice two
    u un under unfortunately unless unlikely until unto up upon us use used useful uses using usually uucp
    v value various very via viz vs
    w want wants was wasn't way we we'd welcome well we'll went were we're weren't we've what whatever what's when
    whence whenever where whereafter whereas whereby wherein where's whereupon wherever whether which while whither who
    whoever whole whom who's whose why will willing wish with within without wonder won't would wouldn't
    x
    y yes yet you you'd you'll your you're yours yourself yourselves you've
    z zero
"""

STOP_WORDS: frozenset[str] = frozenset(_WORDS.split())
