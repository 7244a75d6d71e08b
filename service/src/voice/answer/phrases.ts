/** What the words of who answered tell of it; null: nothing that a person could not have said. */
export type Spoken = 'voicemail' | 'screening' | 'ivr' | null

/**
 * Phrases that machines say and people do not, as `plainly` writes them: without accents and signs, in small letters. Each of
 * `certain` is enough. A person who has no time says each of `likely`, and several of them, and one who takes a message offers it: it
 * takes one of them beside one of `offers`.
 */
type Phrases = { certain: RegExp[]; offers: RegExp[]; likely: RegExp[] }

const VOICEMAIL: Phrases = {
  certain: [
    // English
    /\b(?:after|at|following|wait for) the (?:tone|beep)\b/,
    /\bbefore the (?:tone|beep)\b/,
    /\brecord your (?:message|voice message)\b/,
    /(?<!\b(?:my|your|his|her|our|their) )\b(?:mailbox|voice ?mail ?box) (?:is full|belonging to|has not been set up|is not set up)\b/,
    /\b(?:automatic|automated) (?:voice message system|voice messaging system|voicemail)\b/,
    /\byou (?:have|ve) reached the (?:voice ?mail|mailbox|voice mailbox|answering machine)\b/,
    /\byou (?:have|ve) reached [a-z ]{1,30} s (?:voice ?mail|mailbox|voice mailbox|answering machine)\b/,
    /\bhas a voice ?mail ?box that has not been set up\b/,
    /\bleave (?:me |us )?(?:a|your) (?:brief |short |detailed )?(?:message|name and (?:phone |telephone |)number)[a-z ]{0,60}\b(?:(?:i|we) ?ll|(?:i|we) will) (?:get back|call (?:you )?back|return your call)/,
    // German
    /\bnach dem (?:signalton|piepton|ton|piep|signal)\b/,
    /\bdie mailbox (?:von|des|der|ist)\b/,
    /\bder (?:angerufene|gewunschte) (?:teilnehmer|gesprachspartner) (?:ist|antwortet)\b/,
    /\banrufbeantworter (?:von|der|des)\b/,
    // French
    /\bapres le (?:bip|signal sonore|bip sonore)\b/,
    /\b(?:bonjour )?vous etes (?:bien )?sur (?:la messagerie|le repondeur|la boite vocale)\b/,
    /\bla messagerie vocale de\b/,
    // Spanish
    /\b(?:despues|luego) (?:de|del) (?:la |el )?(?:tono|bip)\b/,
    /\b(?:al oir|tras|oir) (?:el |la )?(?:tono|senal)\b/,
    /\b(?:ha llamado|esta llamando) al (?:buzon|contestador)\b/,
    /\bbuzon de voz (?:de|del)\b/,
    // Italian
    /\bdopo il (?:segnale acustico|bip|tono)\b/,
    /\bsegreteria telefonica (?:di|del|della)\b/,
    // Portuguese
    /\b(?:apos o|depois do) (?:bip|tom)\b/,
    /\bcaixa postal\b[a-z ]{0,40}\b(?:recado|mensagem|sinal)\b/,
    // Dutch
    /\bna de (?:piep|pieptoon|toon)\b/,
    /\bvoicemail van\b/,
    // Polish
    /\bpo (?:sygnale|uslyszeniu sygnalu)\b/,
  ],
  offers: [
    /\bleave (?:me |us )?(?:a|your) (?:brief |short |detailed )?(?:message|name)\b/,
    /\b(?:hinterlassen|hinterlasse) (?:sie )?(?:mir |uns )?(?:bitte )?(?:eine |ihre )?(?:kurze )?nachricht\b/,
    /\blaisse[zr]?[ -](?:moi|nous)? ?(?:un|votre) message\b/,
    /\b(?:deje|deja|dejen) (?:un|su|tu) mensaje\b/,
    /\b(?:lasciate|lasci|lascia) (?:un|il tuo|il suo|il vostro) messaggio\b/,
    /\b(?:deixe|deixa) (?:o seu |um |uma |a sua |sua |seu )?(?:recado|mensagem)\b/,
    /\b(?:spreek|laat) (?:een|uw|je) (?:bericht|boodschap)\b/,
    /\bzostaw(?:cie)? (?:prosze )?wiadomosc\b/,
  ],
  likely: [
    /\byou (?:have|ve) reached\b/,
    // Of a light or a railway, too, for whoever tells the way.
    /\b(?:after|at|following|wait for) the signal\b/,
    /\bapres le signal\b|\bdespues de la senal\b|\bdopo il segnale\b|\b(?:apos o|depois do) sinal\b/,
    /\b(?:can ?t|cannot|can not|unable to|not able to) (?:come to|take|answer|get to) (?:the |your |my )?(?:phone|call)\b/,
    /\b(?:not available|unavailable|away from (?:my|the) (?:phone|desk))\b/,
    /\b(?:i|we) ?(?:ll|will) (?:get back to you|call you back|return your call)\b/,
    /\bthe (?:person|party|number|customer|subscriber) you (?:are|re|have|ve) (?:trying to reach|calling|called|dialed|dialled)\b/,
    /\b(?:nicht erreichbar|nicht personlich erreichbar|zurzeit nicht|momentan nicht|im moment nicht)\b/,
    /\b(?:rufe|rufen) (?:ich |wir )?(?:sie |dich )?(?:so bald wie moglich |schnellstmoglich |umgehend )?zuruck\b/,
    /\b(?:pas disponible|absent|indisponible|je ne peux pas (?:vous )?repondre)\b/,
    /\b(?:je vous|nous vous) (?:rappellerai|rappellerons|rappelle)\b/,
    /\b(?:no esta disponible|no estamos disponibles|no puedo atender|no podemos atender|en este momento no)\b/,
    /\b(?:le|te) (?:llamare|devolvere la llamada|llamaremos)\b/,
    /\b(?:non e (?:al momento )?(?:raggiungibile|disponibile)|non sono disponibile|non posso rispondere)\b/,
    /\b(?:nao esta disponivel|nao posso atender|nao podemos atender)\b/,
    /\b(?:niet bereikbaar|niet beschikbaar|niet aan de telefoon)\b/,
    /\b(?:nie moge (?:teraz )?odebrac|jest niedostepny|abonent)\b/,
  ],
}

const SCREENING: Phrases = {
  certain: [
    /\b(?:state|say|record|tell me) your name and (?:the |your )?(?:reason|why|purpose|what)\b/,
    /\b(?:say|state|record) your name (?:after|at) the (?:tone|beep)\b[a-z ]{0,40}\b(?:connect|put)/,
    /\bsee if (?:this|the) person (?:is|s) available\b/,
    /\b(?:call )?screening (?:service|assistant)\b/,
    /\busing (?:a |the )?call screen(?:ing|er)?\b/,
    /\b(?:find out|know|ask(?:ed)? (?:me )?(?:to find out )?|tell me) who (?:is|s) calling and (?:why|what)\b/,
    /\bwho (?:is|s) calling and why (?:you|they|he|she|are)\b/,
    /\bwill get a copy of this conversation\b/,
    /\b(?:nennen|sagen) sie (?:bitte )?(?:ihren namen und (?:den |ihren )?(?:grund|anlass)|wer sie sind und warum)\b/,
    /\b(?:dites|indiquez|enregistrez) votre nom et (?:le motif|la raison|l objet)\b/,
    /\b(?:diga|indique|grabe) su nombre y (?:el motivo|la razon)\b/,
    /\b(?:dica|indichi|registri|pronunci) il suo nome e (?:il motivo|la ragione)\b/,
    /\b(?:diga|informe|grave) (?:o )?seu nome e o motivo\b/,
    /\b(?:noem|zeg|spreek) uw naam (?:in )?en (?:de )?reden\b/,
  ],
  offers: [],
  likely: [],
}

const KEY = '(?:[0-9]|one|two|three|four|five|six|seven|eight|nine|zero|star|pound|hash)'
const MENU: Phrases = {
  certain: [
    new RegExp(`\\b(?:press|dial|push) (?:the )?(?:number |key )?${KEY} (?:for|to|if)\\b`),
    new RegExp(`\\b(?:for|to) [a-z ]{2,60} (?:please )?(?:press|dial|push) (?:the )?(?:number |key )?${KEY}\\b`),
    /\b(?:listen carefully (?:as|because|to (?:the|our) (?:following|menu|options))|our menu has|menu options|following options|enter your (?:party s |account |)(?:extension|number|pin))\b/,
    /\bdrucken sie (?:bitte )?(?:die )?(?:taste )?(?:[0-9]|null|eins|zwei|drei|vier|funf|sechs|sieben|acht|neun)\b/,
    /\b(?:tapez|appuyez sur|faites le) (?:le |la touche )?(?:[0-9]|un|deux|trois|quatre|cinq|six|sept|huit|neuf|zero|etoile|diese)\b/,
    /\b(?:oprima|pulse|marque|presione) (?:el |la tecla )?(?:[0-9]|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|cero)\b/,
    /\b(?:prema|premere|digiti|premi) (?:il )?(?:tasto )?(?:[0-9]|uno|due|tre|quattro|cinque|sei|sette|otto|nove|zero)\b/,
    /\b(?:digite|tecle|pressione|prima) (?:o |a tecla )?(?:[0-9]|um|dois|tres|quatro|cinco|seis|sete|oito|nove|zero)\b/,
    /\b(?:toets|druk op|kies) (?:een |de )?(?:[0-9]|(?<!kies )een|twee|drie|vier|vijf|zes|zeven|acht|negen|nul)\b/,
    /\b(?:wybierz|nacisnij|wcisnij) (?:[0-9]|jeden|dwa|trzy|cztery|piec|szesc|siedem|osiem|dziewiec|zero)\b/,
  ],
  offers: [],
  likely: [],
}

/** A person who asks, or offers to do something for the caller: what a mailbox never does. */
const PERSONAL = [
  /\b(?:do|did|would|could|can|may|should|shall) (?:you|i|we)\b[a-z ]{0,40}\b(?:message|beep|tone|name|press|reach|number|mailbox)/,
  /\bi (?:have |ve )?(?:just |already )?(?:left|leave|press|pressed|heard)\b/,
  /\b(?:for|to) (?:him|her|them)\b/,
  /\b(?:he|she) (?:is|s|isn t|can t|cannot|ll|will|won t|has|had|was)\b/,
  /\bhow (?:can|may) (?:i|we) help\b/,
  /\b(?:er|sie) (?:ist|hat|kommt)\b/,
  /\b(?:il|elle) (?:est|n est|a|sera)\b/,
  /\bwith me\b/,
  /\b(?:kann|konnte|soll|darf) ich\b|\b(?:mochten|wollen|konnen) sie\b|\bihm\b|\bausrichten\b/,
  /\b(?:voulez|souhaitez|pouvez) vous\b|\bje peux prendre\b|\bpuis je\b/,
  /\b(?:quiere|desea|puede) (?:usted |que )?(?:dejar|le|tome)\b|\bpuedo tomar\b/,
  /\b(?:vuole|desidera|posso) (?:lasciare|prendere|che)\b/,
  /\b(?:quer|deseja|posso) (?:deixar|anotar|pegar)\b/,
  /\b(?:wilt u|kan ik|zal ik)\b/,
]

/** What a screening assistant says while it asks the person behind it. */
const WAITING = [
  /\b(?:stay on|hold) (?:the )?line\b|\b(?:please|just) (?:wait|hold|hang on)\b|\bone moment\b|\b(?:connecting|trying to connect) you\b/,
  /\b(?:bleiben sie|warten sie|einen (?:moment|augenblick))\b/,
  /\b(?:ne quittez pas|veuillez patienter|un instant)\b/,
  /\b(?:espere|no cuelgue|un momento|permanezca)\b/,
  /\b(?:attenda|resti in linea|um momento|aguarde|blijf aan de lijn|moment geduld|prosze czekac)\b/,
]

/** Longer than a greeting of anybody's is: what follows it tells nothing new. */
const MAX_CHARS = 1_000

/** Reads what was said so far by who answered. Where it could be a person, it is taken for one. */
export function readWords(text: string): Spoken {
  const said = plainly(text)
  // A question to be answered is one whatever its assistant calls the tone behind it; a mailbox often offers keys, and a menu no tone.
  if (fits(said, SCREENING)) return 'screening'
  if (fits(said, VOICEMAIL)) return isPersonal(said) ? null : 'voicemail'
  if (fits(said, MENU)) return isPersonal(said) ? null : 'ivr'
  return null
}

/** Whether it only asks to wait. */
export function asksToWait(text: string): boolean {
  const said = plainly(text)
  return WAITING.some((phrase) => phrase.test(said))
}

function fits(said: string, { certain, offers, likely }: Phrases): boolean {
  const isSaid = (phrase: RegExp) => phrase.test(said)
  return certain.some(isSaid) || (offers.some(isSaid) && likely.some(isSaid))
}

function isPersonal(said: string): boolean {
  return PERSONAL.some((phrase) => phrase.test(said))
}

function plainly(text: string): string {
  return text
    .slice(0, MAX_CHARS)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
