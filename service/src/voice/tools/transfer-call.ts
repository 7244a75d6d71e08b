import { Type } from 'typebox'
import { E164_PATTERN } from '../../kernel/phone.ts'
import { strict } from '../../platform/http/schemas.ts'
import { defineTool, type Tool } from './tool.ts'

/** Puts the call through to somebody else. */
export const transferCall: Tool = defineTool({
  name: 'transfer_call',
  description:
    'Puts the call through to another number. Say before that you do so, and say nothing after it. If nobody takes the call you are told, and go on with the caller.',
  parameters: strict({
    target: Type.String({ pattern: E164_PATTERN, description: 'The number, in E.164.' }),
    summary: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'What the call is about, for who takes it: they hear it when warm.',
      }),
    ),
    warm: Type.Optional(
      Type.Boolean({
        description:
          'They hear the summary first, and say whether they take the call, while the caller waits. Default false: the caller is put through at once.',
      }),
    ),
  }),
  maxPerCall: 5,
  // The last words before it, and the time that a carrier may take to begin with it, are less.
  deadlineMs: 20_000,
  async run({ target, summary = '', warm = false }, { controls }) {
    await controls.transfer({ target, summary, isWarm: warm })
    return { output: { ok: true, note: 'The call is being put through. Say nothing until you are told otherwise.' } }
  },
})
