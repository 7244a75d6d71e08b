import { APOLOGY, builtInWords } from '../agents/built-in-words.ts'
import { primaryLanguage } from '../kernel/language.ts'
import type { CallVerb } from '../platform/telephony/port.ts'

/** A sentence in a language that its carrier may not expect, or speak. */
export type Sentence = Pick<Extract<CallVerb, { type: 'say' }>, 'text' | 'language' | 'english'>

/** What a carrier says where no agent does. */
type CarrierWords = {
  /** There is no room for another call. */
  readonly busy: string
  /** A call that came in cannot be taken, whatever the reason. */
  readonly untaken: string
  /** A call that had an agent, or was about to have one, ends. */
  readonly lost: string
  /** Whoever has answered a call that we placed gets no agent. */
  readonly unconnected: string
  /** To somebody to whom a caller was to be put through. */
  readonly callerGone: string
  /** The same: before what the call is about, and behind it. */
  readonly waiting: string
  readonly pressOne: string
}

const ENGLISH: CarrierWords = {
  busy: 'All our lines are busy at the moment. Please call again later. Goodbye.',
  untaken: 'We are sorry, your call cannot be taken at the moment. Please call again later. Goodbye.',
  lost: 'We are sorry, the call cannot go on. Please call again later. Goodbye.',
  unconnected: 'We are sorry, this call cannot be connected at the moment. Goodbye.',
  callerGone: 'The caller is not there any more. Goodbye.',
  waiting: 'A caller is waiting for you.',
  pressOne: 'Press 1 to take the call.',
}

/** By `primaryLanguage`. A further one is an entry here. */
const WORDS: ReadonlyMap<string, CarrierWords> = new Map([
  [
    'cs',
    {
      busy: 'Všechny linky jsou momentálně obsazené. Zavolejte prosím později. Na shledanou.',
      untaken: 'Omlouváme se, váš hovor teď nelze přijmout. Zavolejte prosím později. Na shledanou.',
      lost: 'Omlouváme se, hovor nemůže pokračovat. Zavolejte prosím později. Na shledanou.',
      unconnected: 'Omlouváme se, hovor teď nelze spojit. Na shledanou.',
      callerGone: 'Volající už není na lince. Na shledanou.',
      waiting: 'Čeká na vás volající.',
      pressOne: 'Hovor přijmete stisknutím jedničky.',
    },
  ],
  [
    'da',
    {
      busy: 'Alle vores linjer er optaget i øjeblikket. Ring venligst igen senere. Farvel.',
      untaken: 'Vi beklager, dit opkald kan ikke besvares lige nu. Ring venligst igen senere. Farvel.',
      lost: 'Vi beklager, samtalen kan ikke fortsætte. Ring venligst igen senere. Farvel.',
      unconnected: 'Vi beklager, opkaldet kan ikke forbindes lige nu. Farvel.',
      callerGone: 'Den, der ringede, er her ikke længere. Farvel.',
      waiting: 'En person venter på dig i telefonen.',
      pressOne: 'Tryk 1 for at tage opkaldet.',
    },
  ],
  [
    'de',
    {
      busy: 'Zurzeit sind alle Leitungen belegt. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
      untaken:
        'Es tut uns leid, Ihr Anruf kann zurzeit nicht angenommen werden. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
      lost: 'Es tut uns leid, das Gespräch kann nicht fortgesetzt werden. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
      unconnected: 'Es tut uns leid, dieser Anruf kann zurzeit nicht verbunden werden. Auf Wiederhören.',
      callerGone: 'Der Anruf besteht nicht mehr. Auf Wiederhören.',
      waiting: 'Ein Anruf wartet auf Sie.',
      pressOne: 'Drücken Sie die 1, um den Anruf anzunehmen.',
    },
  ],
  ['en', ENGLISH],
  [
    'es',
    {
      busy: 'Todas nuestras líneas están ocupadas en este momento. Por favor, llame más tarde. Adiós.',
      untaken: 'Lo sentimos, no podemos atender su llamada en este momento. Por favor, llame más tarde. Adiós.',
      lost: 'Lo sentimos, la llamada no puede continuar. Por favor, llame más tarde. Adiós.',
      unconnected: 'Lo sentimos, no es posible conectar esta llamada en este momento. Adiós.',
      callerGone: 'La persona que llamaba ya no está en la línea. Adiós.',
      waiting: 'Hay una llamada en espera para usted.',
      pressOne: 'Pulse 1 para aceptar la llamada.',
    },
  ],
  [
    'fr',
    {
      busy: 'Toutes nos lignes sont occupées pour le moment. Veuillez rappeler plus tard. Au revoir.',
      untaken:
        'Nous sommes désolés, votre appel ne peut pas être pris pour le moment. Veuillez rappeler plus tard. Au revoir.',
      lost: "Nous sommes désolés, l'appel ne peut pas continuer. Veuillez rappeler plus tard. Au revoir.",
      unconnected: 'Nous sommes désolés, cet appel ne peut pas aboutir pour le moment. Au revoir.',
      callerGone: "La personne qui appelait n'est plus en ligne. Au revoir.",
      waiting: 'Un appel vous attend.',
      pressOne: "Appuyez sur 1 pour prendre l'appel.",
    },
  ],
  [
    'it',
    {
      busy: 'Al momento tutte le nostre linee sono occupate. La preghiamo di richiamare più tardi. Arrivederci.',
      untaken:
        'Ci dispiace, al momento non possiamo rispondere alla sua chiamata. La preghiamo di richiamare più tardi. Arrivederci.',
      lost: 'Ci dispiace, la chiamata non può continuare. La preghiamo di richiamare più tardi. Arrivederci.',
      unconnected: 'Ci dispiace, al momento non è possibile collegare questa chiamata. Arrivederci.',
      callerGone: 'Chi chiamava non è più in linea. Arrivederci.',
      waiting: "C'è una chiamata in attesa per lei.",
      pressOne: 'Prema 1 per accettare la chiamata.',
    },
  ],
  [
    'nl',
    {
      busy: 'Al onze lijnen zijn op dit moment bezet. Belt u later nog eens. Tot ziens.',
      untaken: 'Het spijt ons, uw oproep kan op dit moment niet worden aangenomen. Belt u later nog eens. Tot ziens.',
      lost: 'Het spijt ons, het gesprek kan niet worden voortgezet. Belt u later nog eens. Tot ziens.',
      unconnected: 'Het spijt ons, deze oproep kan op dit moment niet worden doorverbonden. Tot ziens.',
      callerGone: 'De beller is niet meer aan de lijn. Tot ziens.',
      waiting: 'Er wacht een beller op u.',
      pressOne: 'Druk op 1 om het gesprek aan te nemen.',
    },
  ],
  [
    'no',
    {
      busy: 'Alle linjene våre er opptatt akkurat nå. Vennligst ring igjen senere. Ha det bra.',
      untaken: 'Beklager, anropet ditt kan ikke besvares akkurat nå. Vennligst ring igjen senere. Ha det bra.',
      lost: 'Beklager, samtalen kan ikke fortsette. Vennligst ring igjen senere. Ha det bra.',
      unconnected: 'Beklager, dette anropet kan ikke kobles til akkurat nå. Ha det bra.',
      callerGone: 'Den som ringte, er ikke lenger på linjen. Ha det bra.',
      waiting: 'Noen venter på deg på telefonen.',
      pressOne: 'Trykk 1 for å ta samtalen.',
    },
  ],
  [
    'pl',
    {
      busy: 'Wszystkie nasze linie są teraz zajęte. Prosimy zadzwonić później. Do widzenia.',
      untaken: 'Przepraszamy, w tej chwili nie możemy odebrać tego połączenia. Prosimy zadzwonić później. Do widzenia.',
      lost: 'Przepraszamy, rozmowa nie może być kontynuowana. Prosimy zadzwonić później. Do widzenia.',
      unconnected: 'Przepraszamy, w tej chwili nie można nawiązać tego połączenia. Do widzenia.',
      callerGone: 'Osoby dzwoniącej nie ma już na linii. Do widzenia.',
      waiting: 'Czeka na Państwa rozmówca.',
      pressOne: 'Aby odebrać połączenie, proszę nacisnąć 1.',
    },
  ],
  [
    'pt',
    {
      busy: 'Todas as nossas linhas estão ocupadas neste momento. Por favor, ligue mais tarde. Até breve.',
      untaken:
        'Pedimos desculpa, a sua chamada não pode ser atendida neste momento. Por favor, ligue mais tarde. Até breve.',
      lost: 'Pedimos desculpa, a chamada não pode continuar. Por favor, ligue mais tarde. Até breve.',
      unconnected: 'Pedimos desculpa, não é possível ligar esta chamada neste momento. Até breve.',
      callerGone: 'A pessoa que ligou já não está em linha. Até breve.',
      waiting: 'Há uma chamada à sua espera.',
      pressOne: 'Pressione 1 para atender a chamada.',
    },
  ],
  [
    'ru',
    {
      busy: 'Все линии сейчас заняты. Пожалуйста, перезвоните позже. До свидания.',
      untaken: 'Приносим извинения, сейчас мы не можем принять ваш звонок. Пожалуйста, перезвоните позже. До свидания.',
      lost: 'Приносим извинения, разговор не может быть продолжен. Пожалуйста, перезвоните позже. До свидания.',
      unconnected: 'Приносим извинения, сейчас соединить вас невозможно. До свидания.',
      callerGone: 'Звонившего уже нет на линии. До свидания.',
      waiting: 'Вас ожидает звонок.',
      pressOne: 'Чтобы принять звонок, нажмите один.',
    },
  ],
  [
    'sv',
    {
      busy: 'Alla våra linjer är upptagna just nu. Ring gärna igen senare. Hej då.',
      untaken: 'Vi beklagar, ditt samtal kan inte tas emot just nu. Ring gärna igen senare. Hej då.',
      lost: 'Vi beklagar, samtalet kan inte fortsätta. Ring gärna igen senare. Hej då.',
      unconnected: 'Vi beklagar, det här samtalet kan inte kopplas fram just nu. Hej då.',
      callerGone: 'Den som ringde är inte kvar på linjen. Hej då.',
      waiting: 'Någon väntar på dig i telefonen.',
      pressOne: 'Tryck 1 för att ta samtalet.',
    },
  ],
  [
    'tr',
    {
      busy: 'Şu anda tüm hatlarımız dolu. Lütfen daha sonra tekrar arayın. Hoşça kalın.',
      untaken: 'Özür dileriz, çağrınız şu anda yanıtlanamıyor. Lütfen daha sonra tekrar arayın. Hoşça kalın.',
      lost: 'Özür dileriz, görüşme devam edemiyor. Lütfen daha sonra tekrar arayın. Hoşça kalın.',
      unconnected: 'Özür dileriz, bu çağrı şu anda bağlanamıyor. Hoşça kalın.',
      callerGone: 'Arayan kişi artık hatta değil. Hoşça kalın.',
      waiting: 'Sizi bekleyen bir çağrı var.',
      pressOne: 'Çağrıyı almak için 1 tuşuna basın.',
    },
  ],
  [
    'uk',
    {
      busy: 'Усі наші лінії зараз зайняті. Будь ласка, зателефонуйте пізніше. До побачення.',
      untaken:
        'Перепрошуємо, зараз ми не можемо прийняти ваш дзвінок. Будь ласка, зателефонуйте пізніше. До побачення.',
      lost: 'Перепрошуємо, розмова не може продовжуватися. Будь ласка, зателефонуйте пізніше. До побачення.',
      unconnected: 'Перепрошуємо, зараз з’єднати вас неможливо. До побачення.',
      callerGone: 'Того, хто телефонував, уже немає на лінії. До побачення.',
      waiting: 'На вас чекає дзвінок.',
      pressOne: 'Щоб прийняти дзвінок, натисніть один.',
    },
  ],
])

/** What a carrier is to say in the language of an agent; in English where that is not known, or not here. */
export function carrierSentence(say: (words: CarrierWords) => string, language: string | null): Sentence {
  const english = say(ENGLISH)
  const words = language === null ? undefined : WORDS.get(primaryLanguage(language))
  return sentence({ language, text: words ? say(words) : null, english })
}

/** The same of the agent's own apology: whoever is put through to somebody else is not told goodbye. */
export function apologySentence(language: string | null): Sentence {
  return sentence({ language, text: builtInWords(language)?.sorry ?? null, english: APOLOGY })
}

function sentence({
  language,
  text,
  english,
}: {
  language: string | null
  text: string | null
  english: string
}): Sentence {
  return language === null || text === null ? { text: english } : { text, language, english }
}
