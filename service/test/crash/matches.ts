import type { Moment } from './moments.ts'

type Is = (moment: Moment) => boolean
type When = Moment['when']

/** The end of a transaction that asked all of these; a statement outside of one is its own. */
export function commit(when: When, ...asked: RegExp[]): Is {
  return (moment) => {
    if (moment.where !== 'database' || moment.when !== when) return false
    const { statement: text, transaction } = moment
    const statements = transaction.length === 0 ? [text] : transaction
    const isEnd = transaction.length === 0 || /^commit/i.test(text)
    return isEnd && asked.every((each) => statements.some((one) => each.test(one)))
  }
}

/** A statement, in a transaction or not. */
export function statement(when: When, asked: RegExp): Is {
  return (moment) => moment.where === 'database' && moment.when === when && asked.test(moment.statement)
}

/** A statement that was about something: one that found nothing is none. */
export function taking(asked: RegExp): Is {
  const isDone = statement('after', asked)
  return (moment) => isDone(moment) && moment.where === 'database' && (moment.rows ?? 0) > 0
}

/** A webhook on its way. */
export function delivery(when: When): Is {
  return (moment) => moment.where === 'webhook' && moment.when === when
}

/** A request that changes something. */
export function request(where: 'carrier' | 'client', when: When, path: RegExp): Is {
  return (moment) =>
    moment.where === where && moment.when === when && moment.method === 'POST' && path.test(moment.path)
}
