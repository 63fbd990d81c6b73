"""Function words of European languages: articles, pronouns, prepositions, conjunctions and auxiliaries.

They hold sentences together and say nothing about a topic. The lists are short, as only closed classes are in them.
What is a function word in one language may name a thing in another ("die", "van", "door", "sea"): such words stand
after a bar, and count as function words only in texts whose main language is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_LISTS = {
    "English": """
        a about across after again against all also am among an and any anyone anything are aren around as at be
        because been before being between both by can cannot cant could couldn couldnt did didn didnt do does doesn
        doesnt doing don dont down during each either even every everyone everything few for from had hadn has hasn
        have haven having he her here hers herself him himself his how however i if in into is isn isnt it its itself
        just ll may me might more much must my myself neither no nobody nor not nothing now of off on once one ones
        only onto other our ours ourselves out over own per rather re same shall she should shouldn since so some
        someone something still such than that the their theirs them themselves then there these they this those though
        through to too toward towards under until unto up upon us ve very was wasn wasnt we were weren what when where
        whether which while who whom whose why will with within without won wont would wouldn wouldnt yet you your
        yours yourself yourselves | but mine most or
    """,
    "German": """
        aber alle allem allen aller alles als am an ander andere anderen auch auf aus bei beim bis da damit dann das
        dass daß dein deine deinen deiner dem der deren des dessen dich dies diese diesem diesen dieser dieses dir doch
        dort du durch ein eine einem einen einer eines er es etwas euch euer eure für gegen habe haben hatte hatten
        hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im ist ja jede jedem jeden jeder jedes jedoch kann kein keine
        keinen keiner können könnte mein meine meinem meinen meiner mich muss nach nicht noch nun nur ob oder ohne sehr
        sein seine seinem seinen seiner seit sich sie sind sollte sondern sowie um und uns unser unsere unter vom von
        vor waren weil wenn werde werden wie wieder wir wird wo wurde wurden wäre würde zu zum zur zwischen über | also
        bin dabei den die hat hin in man mir mit so war was will
    """,
    "French": """
        afin ai au aucun aucune aussi autre autres aux avait avant avec avez avoir avons ayant c ce ceci cela celle
        celui ces cet cette ceux chez ci comme d dans de depuis des donc dont du elle elles en encore entre est et eu
        eux faut fut il ils j je jusqu l la le les leur leurs lors lorsque lui ma mais mes moins même ne ni nos notre
        nous on ont ou où parce pas pendant peu peut plus pourquoi pouvait puis qu quand que quel quelle quelques qui
        quoi sa sans se selon sera serait ses si soi soit sommes sont sous suis ta te tes toi tous tout toute toutes
        très tu un une vers voici voilà vos votre vous y à ça étaient était étant étions été être | car comment me mon
        or par pour son sur ton
    """,
    "Spanish": """
        al algo algunas algunos ante antes aquel aquella aunque cada casi con contra cual cuando cuál cómo de del desde
        donde durante e el ella ellas ellos en entre eran es esa esas ese eso esos esta estaba estaban estado estamos
        estar estas este esto estos está están estás fue fueron ha había habían han hasta hay he la las le les lo los
        me mi mucho muchos muy más mí nada ni nos nosotros nuestra nuestro o os otra otras otro otros para pero poco
        por porque pues que quien qué se según ser si sido sobre somos su sus sí también tanto te tenemos tenía tiene
        tienen todo todos tu tus un una unas uno unos usted ustedes y ya yo él | como dos era mis no sea sin son
    """,
    "Italian": """
        a agli ai al alla alle allo anche ancora aveva avevano c che chi ci coi col con così cui da dagli dai dal dalla
        dalle dallo degli dei del della delle dello di dopo dov e ed egli erano essere fra gli ha hai hanno ho i il io
        la le lei li lo loro lui ma mentre mi mie miei mio molto ne negli nei nel nella nelle nello noi non nostra
        nostro o ogni oppure per perché però più poi qua quale quando quanto quella quelle quelli quello questa queste
        questi questo qui se senza si siamo siete sono sta stata stati stato su sua sugli sui sul sulla sulle sullo suo
        suoi te ti tra tu tua tuo tutti tutto un una uno vi voi è | ad come due era in mia sei sue
    """,
    "Portuguese": """
        a ainda ante ao aos aquela aquele aquilo até cada com da das de dela dele deles depois dos e ela elas ele eles
        em entre eram essa esse esta estamos estar estava estavam este estes estou está estão eu foi foram há isso isto
        já la lhe lhes lo mais mas mesmo meu meus minha muito na nas nem nos nossa nosso nossos num numa não nós o onde
        os ou para pela pelas pelo pelos por porque qual quando que quem se seja sem sendo ser será seu seus sobre
        somos sua suas são só também te tem tenho ter teu tinha tive tu tua tudo um uma umas uns vai você vocês à às é
        | as como do era no
    """,
    "Dutch": """
        aan alle als altijd andere bij daar dat de deze dit doen dus een eens en er ge geen hadden heb hebben heeft het
        hier hij hoe iets ik is ja je kan kon kunnen maar me meer mij mijn moet na naar niet niets nog nu om omdat
        onder ons onze ook op reeds te tegen tot tussen uit uw veel voor waar waren wat we werd wezen wie wij wil
        worden wordt zal ze zei zelf zich zij zijn zo zonder zou | al ben dan der die door had hem hun in men met of
        over toch toen van want was
    """,
    "Swedish": """
        alla att av blev bli blir de deras dess dessa det detta ditt du där efter ej eller en er ett från för ha hade
        han hans har henne hennes hon honom hur här i icke inga ingen inte jag ju kan kunde med mellan mig mina mitt
        mycket nu när något några och om oss på sedan sig sina sitt ska skulle som så upp ut utan vad var vara varför
        varit vem vi vid vår är åt över | den dig din dom man men min mot sin till under
    """,
    "Danish and Norwegian": """
        af alle andre av ble blev bli blir da de dem denne der deres det dette din disse du efter eller en er et etter
        fordi fra før hadde hans har havde hende hendes henne hun hva hvad hvis hvor hvordan i ikke ingen jeg jo kan
        kun kunne mange med meg meget mig mot mye noen noget når og også om op opp oss på seg selv sig sin sitt skal
        skulle som til ud uden ut var vi vil ville vores være vært å | at den dig for ham han her man men min os over
        sit under
    """,
    "Polish": """
        albo aż bardzo bez bo być był była było były będzie ci cię co czy dla gdy gdyby gdzie i ich ile ja jak jako je
        jednak jego jej jest jestem już każdy kiedy kto która które którego której który których którzy lub ma mi mnie
        mną moje może można mój na nad nas nasz nic nie niego niej nim o od on ona oni oraz po ponieważ poza przed
        przez przy się sobie swoje są ta tak także tam te tego tej temu też tu ty tych tylko tym u w wszystko wy z za
        ze że | ale by do go im my one pod ten to we
    """,
    "Russian": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее ей ему
        если есть еще ещё её же за и из или им их к как ко когда кто ли либо меня мне может мы на над надо наш не него
        нее ней нет ни них но ну о об однако он она они оно от очень по под после потому при про с сам свою себя со так
        также такой там то тогда того тоже той только том ты у уже хотя чего чем что чтобы эта эти это этого этом этот
        я
    """,
}
# parts of a list: words that say nothing in any language, and those that do in another
FUNCTION_WORDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    language: tuple(frozenset(part.split()) for part in (*text.split("|"), "")[:2])  # type: ignore[misc]
    for language, text in _LISTS.items()
}


def are_function_words(words: Sequence[str], frequency: np.ndarray) -> np.ndarray:
    """Tell which words of a vocabulary are function words of any language.

    The main language is the one whose function words are the most frequent.

    Parameters
    ----------
    words : sequence of str
        The vocabulary, in small letters.
    frequency : ndarray of shape (n_words,)
        How frequent each word is.

    Returns
    -------
    ndarray of bool, shape (n_words,)
        True for function words.

    Examples
    --------
    >>> are_function_words(["the", "van", "mais", "room"], np.array([9.0, 1.0, 1.0, 3.0])).tolist()
    [True, False, True, False]
    >>> are_function_words(["het", "van", "mais", "room"], np.array([9.0, 1.0, 1.0, 3.0])).tolist()
    [True, True, True, False]
    """
    known = {
        language: np.array([word in clear for word in words], dtype=bool)
        for language, (clear, _) in FUNCTION_WORDS.items()
    }
    main = max(known, key=lambda language: float(frequency[known[language]].sum()))
    doubtful = FUNCTION_WORDS[main][1] if known[main].any() else frozenset()
    return np.any([*known.values(), np.array([word in doubtful for word in words], dtype=bool)], axis=0)
