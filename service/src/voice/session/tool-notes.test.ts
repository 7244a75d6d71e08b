import { expect, it } from 'vitest'
import { calledWith, hasAnswered } from './tool-notes.ts'

it.each([calledWith, hasAnswered])('tells a part of a long text, and no half of a character: %o', (tell) => {
  const told = tell('look_up', `${'a'.repeat(499)}🙂 and more`)
  expect([told.isWellFormed(), told.includes('more')]).toEqual([true, false])
})
