import { newId, type TenantId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'
import { insertMailRow } from './outbox-store.ts'

/** Something that people are to be told by mail. */
export type Notice = {
  /** What kind of thing it is, such as `access_request.created`: for lists and logs. */
  event: string
  /** Of whom it tells; null: of none. */
  tenantId: TenantId | null
  /** One line: what would break it is taken out, and it is cut after 200 characters. */
  subject: string
  /** Plain text; cut after 20,000 characters. */
  text: string
  /**
   * One address in place of those of NOTIFY_TO. Whoever passes on what a tenant wrote here lets the tenant have mail sent to
   * whomever it wants.
   */
  to?: string
}

/**
 * Writes a notice down, to be mailed once the transaction commits.
 *
 * @returns whether anybody will be told: where no mail is set nothing is written down, so that nothing old goes out later.
 */
export type Notify = (tx: Tx, notice: Notice, now: Date) => Promise<boolean>

const MAX_SUBJECT_CHARS = 200
const MAX_TEXT_CHARS = 20_000

/** @param recipients those of NOTIFY_TO; null when NOTIFY_SMTP_URL is not set. */
export function makeNotify({ recipients }: { recipients: string[] | null }): Notify {
  return async (tx, { event, tenantId, subject, text, to }, now) => {
    if (recipients === null) return false
    const words = { subject: oneLine(subject).slice(0, MAX_SUBJECT_CHARS).toWellFormed(), text: plain(text) }
    // A server may take a mail for one of them and not for another: each has its own, and its own attempts.
    for (const each of to === undefined ? recipients : [to]) {
      const mail = { ...words, to: each }
      await insertMailRow(tx, { id: newId<string>(now.getTime()), tenantId, event, createdAt: now, mail })
    }
    return true
  }
}

/** No line ends, and nothing that a terminal or a mail program would act on. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{C}]+/gu, ' ').trim()
}

function plain(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{C}\n\t]/gu, '')
    .slice(0, MAX_TEXT_CHARS)
    .toWellFormed()
}
