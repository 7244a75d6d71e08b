import type { Log } from '../platform/log.ts'
import { type Mailer, MailFault } from '../platform/mail/port.ts'
import type { Send, SendResult } from './attempt.ts'
import type { MailBody } from './outbox-store.ts'

type Deps = {
  mailer: Mailer
  /** Who is told what names nobody else. */
  recipients: string[]
  log: Pick<Log, 'warn'>
}

/** Mails what stands in the outbox. Who of several is refused alone is told in the log: the others have their mail. */
export function makeSendMail({ mailer, recipients, log }: Deps): Send {
  return async (row, signal): Promise<SendResult> => {
    const { subject, text, to } = JSON.parse(row.body) as MailBody
    const mail = { id: row.id, to: to === null ? recipients : [to], subject, text }
    const told = { url: mailer.address, retryAfterMs: null, isFinal: false }
    try {
      const { refused } = await mailer.send(mail, signal)
      if (refused > 0) log.warn({ delivery_id: row.id, refused }, 'a mail was refused for some of its recipients')
      return { ...told, statusCode: ACCEPTED, error: null }
    } catch (error) {
      if (!(error instanceof MailFault)) throw error
      if (error.isStopped) return 'stopped'
      log.warn({ delivery_id: row.id, status_code: error.reply }, 'a mail was not taken by its server')
      return { ...told, statusCode: error.reply, error: error.message }
    }
  }
}

/** What a mail server answers to a message that it has taken. */
const ACCEPTED = 250
