import type { CallControls } from './tool.ts'

/** Controls of a call that note what was done, in the order in which it was. */
export function notedControls(): { controls: CallControls; done: unknown[][] } {
  const done: unknown[][] = []
  return {
    done,
    controls: {
      async transfer(request) {
        done.push(['transfer', request])
      },
      press: (keys) => done.push(['press', keys]) > 0,
      pauseRecording: (isPaused) => done.push(['pauseRecording', isPaused]) > 0,
      escalated: (target) => void done.push(['escalated', target]),
      handOff: (agent, { own, clips, summary }) =>
        done.push(['handOff', agent.agentKey, own.length, clips.map(({ words }) => words), summary]) > 0,
    },
  }
}
