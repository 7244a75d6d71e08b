/** A mail of plain text, to one address without a name. Its subject is one line. */
export type Mail = {
  /** The same in every attempt, so that a mail program can tell a repeat. */
  id: string
  to: string
  subject: string
  text: string
}

/** Hands mail to the server of the installation. */
export type Mailer = {
  /** Where that is, without credentials. */
  address: string
  /** Hands a mail over, within 10 s. @throws MailFault when it was not taken, or nobody knows whether it was. */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

/** Why a mail was not handed over, as a sentence without secrets. */
export class MailFault extends Error {
  override readonly name = 'MailFault'
  /** What the server answered, as `550`; null when it said nothing. */
  readonly reply: number | null
  /** The service stops: the mail was given up. */
  readonly isStopped: boolean

  constructor(
    message: string,
    { reply = null, isStopped = false }: { reply?: number | null; isStopped?: boolean } = {},
  ) {
    super(message)
    this.reply = reply
    this.isStopped = isStopped
  }
}
