import { ApiFailure } from '../api/failure.ts'
import { changedFields, isSame } from './changed-fields.ts'

/** What is written of a thing, beside what it was when somebody began to write. */
export type Edit<Fields extends object> = Fields & { known: Fields }

/** What a thing is now, to be written over. */
export function editOf<Fields extends object>(fields: Fields): Edit<Fields> {
  return { ...fields, known: fields }
}

/** What somebody has changed. */
export function changesIn<Fields extends object>(edit: Edit<Fields>): Partial<Fields> {
  return changedFields<Fields>(edit.known, edit)
}

/**
 * What was changed of a thing, to be sent by itself where the rest stays as it is.
 *
 * @throws ApiFailure 412 when somebody else has changed the same meanwhile.
 */
export function changesOver<Fields extends object>(edit: Edit<Fields>, stored: Fields): Partial<Fields> {
  const changes = changesIn(edit)
  const names = Object.keys(changes) as (keyof Fields)[]
  const isFree = (name: keyof Fields) => isSame(stored[name], edit.known[name]) || isSame(stored[name], changes[name])
  if (names.every(isFree)) return changes
  const message = 'Somebody else has changed the same meanwhile.'
  throw new ApiFailure({ status: 412, code: 'precondition_failed', message })
}

/** A thing as it is to be stored as a whole: what was changed of it, over what it is now. @throws ApiFailure as `changesOver`. */
export function writtenOver<Fields extends object>(edit: Edit<Fields>, stored: Fields): Fields {
  return { ...stored, ...changesOver(edit, stored) }
}

/** How a form goes on after that. @param read what is stored now. */
export function newerOf<Fields extends object, Values extends Edit<Fields>>(read: () => Promise<Values>) {
  return {
    read,
    shown: (mine: Values, stored: Values): object => ({ ...stored.known, ...changesIn<Fields>(mine) }),
    over: (mine: Values, stored: Values): Values => ({
      ...mine,
      ...{ ...stored.known, ...changesIn<Fields>(mine) },
      known: stored.known,
    }),
    taken: (mine: Values, stored: Values): Values => ({ ...mine, ...stored.known, known: stored.known }),
  }
}
