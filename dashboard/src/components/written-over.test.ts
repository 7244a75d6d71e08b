import { describe, expect, it } from 'vitest'
import { editOf, newerOf, writtenOver } from './written-over.ts'

type Fields = { name: string; minutes: number; days: string[] }
const BEGUN: Fields = { name: 'Sales', minutes: 30, days: ['mon'] }
const edit = { ...editOf(BEGUN), name: 'Ours' }

describe('writtenOver', () => {
  it('is what was changed, over what others have stored meanwhile', () => {
    const stored = { name: 'Sales', minutes: 5, days: ['tue'] }
    expect(writtenOver(edit, stored)).toEqual({ ...stored, name: 'Ours' })
  })

  it.each([
    ['others have made the same of it', { ...BEGUN, name: 'Ours' }],
    ['a list says the same, though it was read anew', { ...BEGUN, days: ['mon'] }],
  ])('is no matter of choice where %s', (_why, stored) => {
    expect(writtenOver({ ...edit, days: ['mon'] }, stored)).toEqual({ ...BEGUN, name: 'Ours' })
  })

  it('is refused where somebody else has changed the same, until it is written over that', async () => {
    const stored = { ...BEGUN, name: 'Theirs', minutes: 5 }
    expect(() => writtenOver(edit, stored)).toThrow(expect.objectContaining({ status: 412 }))
    const newer = newerOf<Fields, typeof edit>(async () => editOf(stored))
    const over = newer.over(edit, await newer.read())
    expect(newer.shown(edit, await newer.read())).toEqual({ ...stored, name: 'Ours' })
    expect(writtenOver(over, stored)).toEqual({ ...stored, name: 'Ours' })
  })

  it('leaves what is no matter of that choice as it was chosen, whichever of the two is taken', async () => {
    const stored = { ...BEGUN, name: 'Theirs', minutes: 5 }
    type Form = typeof edit & { isSetUp: boolean }
    const mine: Form = { ...edit, isSetUp: true }
    const newer = newerOf<Fields, Form>(async () => ({ ...editOf(stored), isSetUp: false }))
    expect(newer.over(mine, await newer.read())).toMatchObject({ name: 'Ours', isSetUp: true })
    expect(newer.taken(mine, await newer.read())).toEqual({ ...editOf(stored), isSetUp: true })
  })
})
