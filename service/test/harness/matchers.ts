import { expect } from 'vitest'

/** What stands in an expected answer for what the test cannot know. */
export const someUuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

/** An instant as it goes over the wire: UTC with milliseconds. */
export const someInstant: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Any text of this form. */
export function someText(form: RegExp): unknown {
  return expect.stringMatching(form)
}
