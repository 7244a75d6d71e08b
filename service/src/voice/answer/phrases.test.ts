import { describe, expect, it } from 'vitest'
import { PartyWords } from './party-words.ts'
import { asksToWait, readWords, type Spoken } from './phrases.ts'

/** What machines say, by what they are. */
const MACHINES: Record<Exclude<Spoken, null>, string[]> = {
  voicemail: [
    "Hi, you've reached Bob. Please leave a message after the tone.",
    "Hello, this is Ada. I can't come to the phone right now. Leave a message and I'll get back to you.",
    'Please leave your message after the beep.',
    'Your call has been forwarded to an automated voice messaging system.',
    'Your call has been forwarded to an automatic voice message system. 5551234 is not available.',
    'The mailbox is full and cannot accept any messages at this time.',
    'The person you are trying to reach is not available. At the tone, please record your message. When you have finished recording, you may hang up or press 1 for more options.',
    'You have reached the voicemail of Miller and Sons.',
    'The customer you are calling has a voicemail box that has not been set up yet.',
    "We are unable to take your call. Please leave your name and number and we'll call you back.",
    "Hey it's Sam, leave me a message.  I will call you back.",
    "You've reached the Smiths. We're away from the phone; leave a short message.",
    'Guten Tag, Sie sind mit dem Anschluss von Müller verbunden. Bitte sprechen Sie nach dem Signalton.',
    'Hier ist die Mailbox von Anna Schmidt. Bitte hinterlassen Sie eine Nachricht nach dem Ton.',
    'Ich bin zurzeit nicht erreichbar. Hinterlassen Sie bitte eine Nachricht, ich rufe Sie so bald wie möglich zurück.',
    'Der gewünschte Gesprächspartner ist zurzeit nicht erreichbar.',
    'Bonjour, vous êtes bien sur la messagerie de Paul. Laissez un message après le bip.',
    'Je ne suis pas disponible, laissez-moi un message et je vous rappellerai.',
    'Merci de parler après le signal sonore.',
    'Ha llamado al buzón de voz de Ana. Deje su mensaje después de la señal.',
    'En este momento no puedo atender su llamada. Deje un mensaje.',
    'Risponde la segreteria telefonica di Marco. Lasciate un messaggio dopo il segnale acustico.',
    'La persona chiamata non è al momento raggiungibile. Lasci un messaggio.',
    'Deixe o seu recado após o sinal.',
    'Não posso atender agora, deixe uma mensagem.',
    'U spreekt met de voicemail van Jan. Spreek uw bericht in na de piep.',
    'Proszę zostawić wiadomość po sygnale.',
  ],
  screening: [
    "Hi, if you record your name and reason for calling, I'll see if this person is available.",
    "The person you're calling is using a screening service from Google, and will get a copy of this conversation. Go ahead and say your name, and why you're calling.",
    'Please state your name and the reason for your call, then wait.',
    'Please say your name after the tone and Google Voice will try to connect you.',
    'Hello, I am the call assistant. May I know who is calling and why you want to talk to Ada?',
    'I have been asked to find out who is calling and why.',
    'Bitte nennen Sie Ihren Namen und den Grund Ihres Anrufs.',
    'Veuillez patienter. Dites votre nom et le motif de votre appel.',
    'Por favor, diga su nombre y el motivo de su llamada.',
    'Dica il suo nome e il motivo della chiamata.',
    'Diga o seu nome e o motivo da chamada.',
  ],
  ivr: [
    'Thank you for calling Acme. For sales, press one. For support, press two.',
    'Press 1 for English.',
    'To speak with an operator, press zero.',
    'Please listen carefully, as our menu options have changed.',
    "If you know your party's extension, please enter your party's extension now. To repeat, press star.",
    'Para español, oprima el dos.',
    'Für den Vertrieb drücken Sie bitte die Eins.',
    'Pour le service client, tapez 1.',
    'Pulse uno para ventas.',
    "Per l'assistenza prema il tasto 2.",
    'Para vendas, digite 1.',
    'Voor verkoop, toets 1.',
    'Aby rozmawiać z konsultantem, wybierz 1.',
  ],
}

/** What people say who answer, and what sounds like a machine in it. */
const PEOPLE = [
  'Hello?',
  'Hi, Bob speaking.',
  'Yes?',
  'Who is this?',
  "Who's calling please?",
  'Good morning, Miller and Sons, this is Anna speaking, how can I help you?',
  "You've reached Anna at Miller and Sons, how can I help?",
  'Do you want to leave a message for him?',
  "He's not available right now. Can I take a message?",
  'Would you like to leave your name and number?',
  "Sorry, he can't come to the phone. Shall I give him a message?",
  'She is away from her desk, you can leave a message with me.',
  'You can leave a message for her after the meeting.',
  'I already left a message after the beep yesterday, nobody called back.',
  'Did you leave a message after the tone?',
  'I thought you were my voicemail.',
  'Just leave it on his voicemail.',
  "May I ask who's calling, and what is it about?",
  'Can you tell me your name again?',
  "I'm not available on Tuesday.",
  "We're not able to take the call on Friday, sorry.",
  'I pressed one and nothing happened.',
  'Should I press one for that?',
  "I'll call you back, I'm in a meeting.",
  "One moment please, I'll put you through.",
  'Hold the line, please.',
  'Er ist im Moment nicht da. Soll ich ihm etwas ausrichten?',
  'Möchten Sie eine Nachricht hinterlassen? Er ist zurzeit nicht im Haus.',
  'Kann ich ihm eine Nachricht hinterlassen, er ist momentan nicht erreichbar?',
  'Schmidt, guten Tag.',
  'Wer ist da bitte?',
  "Il n'est pas disponible. Voulez-vous laisser un message ?",
  'Je peux prendre un message, il est absent.',
  'Allô oui?',
  'No está disponible, ¿quiere dejar un mensaje?',
  '¿Dígame?',
  'Non è disponibile, vuole lasciare un messaggio?',
  'Pronto?',
  'Ele não está disponível, quer deixar um recado?',
  'Hij is niet bereikbaar, wilt u een bericht achterlaten?',
  'Słucham?',
  "There's a menu on our website.",
  'Let me check the mailbox.',
  'We got your message, thank you.',
  // Who has no time.
  "I'm not available right now, I'll call you back.",
  "Sorry, I can't take your call now, I'll get back to you.",
  'Ich kann im Moment nicht, ich rufe Sie zurück.',
  'Je ne suis pas disponible, je vous rappelle.',
  'En este momento no puedo, le llamaré.',
  // Who answers for somebody else.
  "You've reached Anna at Miller and Sons. Bob is not available right now.",
  "She's unavailable, leave a message at the front desk.",
  'Sprechen Sie nach dem Urlaub mit ihr.',
  'Sie ist momentan nicht erreichbar, hinterlassen Sie eine Nachricht.',
  "You left a message yesterday, I'll call you back.",
  'My inbox is full, and my mailbox is full, too.',
  // Who tells the way.
  "I'm stuck at the signal.",
  'Turn left after the signal.',
  'Vire à direita depois do sinal.',
  'Gire a la derecha después de la señal.',
  // Who speaks of choices.
  'Listen carefully, do not call me again.',
  "It's on our menu, let me look.",
  'Vous faites un sondage ?',
  'Kies een andere dag.',
]

describe('The words of who answered', () => {
  for (const [kind, said] of Object.entries(MACHINES)) {
    it.each(said)(`are those of ${kind}: %s`, (text) => expect(readWords(text)).toBe(kind))
  }

  it.each(PEOPLE)('may be those of a person: %s', (text) => expect(readWords(text)).toBeNull())

  it('tell together what none of them tells alone', () => {
    const words = new PartyWords()
    expect(words.add("You've reached Bob.")).toBe('other')
    expect(words.add('Leave me a message.')).toBe('voicemail')
  })

  it('do not make a machine of who answers for another one, piece by piece', () => {
    const words = new PartyWords()
    const pieces = [
      "You've reached Miller and Sons, how can I help?",
      "He's not available.",
      'Leave a message, if you like.',
    ]
    expect(pieces.map((piece) => words.add(piece))).toEqual(['other', 'other', 'other'])
  })

  it('are not read again once they have told', () => {
    const words = new PartyWords()
    expect(words.add('Please state your name and the reason for your call.')).toBe('screening')
    expect(words.add('Hello?')).toBe('other')
  })

  it('of an assistant that asks to wait tell nothing', () => {
    const waiting = [
      'Thanks. Please stay on the line.',
      'Please wait.',
      'Einen Moment, bitte warten Sie.',
      'Ne quittez pas.',
    ]
    expect(waiting.filter(asksToWait)).toEqual(waiting)
    expect(new PartyWords().add('One moment, please hold.')).toBe('waiting')
    expect([asksToWait('Hello, Ada speaking.'), new PartyWords().add(' ')]).toEqual([false, null])
  })
})
