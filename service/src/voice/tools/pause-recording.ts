import { Type } from 'typebox'
import { strict } from '../../platform/http/schemas.ts'
import { defineTool, type Tool, ToolRefusal } from './tool.ts'

/** Keeps something out of the recording. */
export const pauseRecording: Tool = defineTool({
  name: 'pause_recording',
  description:
    'Stops to record the call, or goes on with it. Use it before the caller says something that must not be recorded, such as the number of a card, and again when that was said.',
  parameters: strict({ paused: Type.Boolean({ description: 'True: nothing is recorded from now on.' }) }),
  async run({ paused }, { controls }) {
    if (!controls.pauseRecording(paused)) throw new ToolRefusal('the call is not recorded')
    return { output: { ok: true, paused } }
  },
})
