import { Type } from 'typebox'
import { strict } from '../../platform/http/schemas.ts'
import { defineTool, type Tool } from './tool.ts'

/** Ends the call, once what the agent said last was heard. */
export const endCall: Tool = defineTool({
  name: 'end_call',
  description: 'Ends the call. Say goodbye first: the call ends when your last words were heard. Say nothing after it.',
  parameters: strict({
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'Why the call is over, in a few words.' })),
  }),
  run: async () => ({ output: { ok: true }, endsCall: true }),
})
