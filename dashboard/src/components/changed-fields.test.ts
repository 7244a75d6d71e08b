import { describe, expect, it } from 'vitest'
import { changedFields } from './changed-fields.ts'

describe('changedFields', () => {
  it('are those that are not as they were, and none that the form has beside them', () => {
    const begun = { name: 'Robin', role: 'viewer', isKept: true }
    const values = { ...begun, name: '', isKept: false, password: 'typed' }
    expect(changedFields(begun, values)).toEqual({ name: '', isKept: false })
  })

  it('are none of a form that is as it was', () => {
    expect(changedFields({ name: 'Robin' }, { name: 'Robin' })).toEqual({})
  })
})
