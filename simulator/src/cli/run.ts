import { writeFile } from 'node:fs/promises'
import { stereoWav } from '../audio/wav.ts'
import type { CallEvent } from '../carrier/timeline.ts'
import { readScenario } from '../scenario/read-scenario.ts'
import { reportJson, reportText } from '../scenario/report.ts'
import { type RunOptions, runScenario, type ScenarioReport } from '../scenario/run-scenario.ts'
import { startSimulator } from '../simulator.ts'
import type { Command } from './options.ts'

type RunCommand = Extract<Command, { command: 'run' }>

/**
 * Runs scenarios one after the other and writes a report of each; true when all hold.
 * All files are read before the first call, so that a mistake in the last one costs no time.
 */
export async function run(command: RunCommand, write: (text: string) => void): Promise<boolean> {
  const scenarios = await Promise.all(command.scenarios.map(readScenario))
  const simulator = await startSimulator(command.simulator)
  try {
    let allHold = true
    for (const scenario of scenarios) {
      if (!command.json) write(`${scenario.name}\n`)
      const report = await runScenario(simulator, scenario, runOptions(command, write))
      write(command.json ? `${reportJson(report)}\n` : `\n${reportText(report)}\n`)
      if (command.wav) await writeRecording(command.wav, report)
      allHold &&= report.ok
    }
    return allHold
  } finally {
    await simulator.close()
  }
}

function runOptions(command: RunCommand, write: (text: string) => void): RunOptions {
  const { voiceUrl, voiceFallbackUrl, statusCallback, json } = command
  return {
    voiceUrl,
    ...(voiceFallbackUrl && { voiceFallbackUrl }),
    ...(statusCallback && { statusCallback }),
    ...(!json && { onCall: (call) => void call.watch((event) => write(progressLine(event))) }),
  }
}

async function writeRecording(path: string, { audio }: ScenarioReport): Promise<void> {
  if (audio) await writeFile(path, stereoWav(audio.caller, audio.agent))
}

function progressLine(event: CallEvent): string {
  const line = (text: string) => `  ${(event.atMs / 1000).toFixed(1).padStart(5)} s  ${text}\n`
  switch (event.kind) {
    case 'status':
      return line(event.status)
    case 'caller-began':
      return line(`caller: ${event.text ?? '(a sound)'}`)
    case 'agent-began':
      return line('agent speaks')
    case 'key':
      return line(`key ${event.key}`)
    case 'clear':
      return line(`agent stopped, ${event.droppedMs} ms unheard`)
    case 'notification':
      return line(`${event.code} ${event.message}`)
    case 'hang-up':
      return line(`over, by ${event.by}`)
    default:
      return ''
  }
}
