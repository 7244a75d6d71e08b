import type { Log } from '../platform/log.ts'
import { type Mailer, MailFault } from '../platform/mail/port.ts'
import type { Send, SendResult } from './attempt.ts'
import type { MailBody } from './outbox-store.ts'

type Deps = { mailer: Mailer; log: Pick<Log, 'warn'> }

/** Mails what stands in the outbox, each row to its one address. */
export function makeSendMail({ mailer, log }: Deps): Send {
  return async (row, signal): Promise<SendResult> => {
    const { subject, text, to } = JSON.parse(row.body) as MailBody
    const mail = { id: row.id, to, subject, text }
    const told = { url: mailer.address, retryAfterMs: null, isFinal: false }
    try {
      await mailer.send(mail, signal)
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
