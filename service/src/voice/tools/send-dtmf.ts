import { Type } from 'typebox'
import { strict } from '../../platform/http/schemas.ts'
import { KEYS_PATTERN } from '../key-tones.ts'
import { defineTool, type Tool, ToolRefusal } from './tool.ts'

/** Presses keys, for a machine at the other end. */
export const sendDtmf: Tool = defineTool({
  name: 'send_dtmf',
  description:
    'Presses keys of the telephone, as the menu of a machine at the other end asks for. Say nothing about it, and wait for what is said next.',
  parameters: strict({
    digits: Type.String({
      ...{ minLength: 1, maxLength: 32, pattern: KEYS_PATTERN },
      description: 'The keys in their order: 0 to 9, *, #, A to D; w waits half a second.',
    }),
  }),
  maxPerCall: 50,
  async run({ digits }, { controls }) {
    if (!controls.press(digits)) {
      throw new ToolRefusal('the keys were not pressed: somebody else has the call, or its line is lost for a moment')
    }
    return { output: { ok: true }, isSilent: true }
  },
})
