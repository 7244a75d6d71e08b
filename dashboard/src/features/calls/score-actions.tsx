import { useQueryClient } from '@tanstack/react-query'
import { Buttons } from '../../components/fields.tsx'
import { percentText } from '../../components/percent.ts'
import { RunButton } from '../../components/run-button.tsx'
import { type CallLog, callsKey, partiesText, scoreCall, type Verdict, type VoiceSession } from './call-queries.ts'
import { GiveScore } from './give-score.tsx'

type ScoreActionsProps = { tenantId: string; call: CallLog; session: VoiceSession }

/** Has the chat model score a call that is over, or takes down what a person thinks of it. */
export function ScoreActions({ tenantId, call, session: { id, qa } }: ScoreActionsProps) {
  const client = useQueryClient()

  async function score(verdict?: Verdict): Promise<number> {
    const given = await scoreCall(tenantId, id, verdict)
    await client.invalidateQueries({ queryKey: callsKey(tenantId) })
    return given
  }

  async function scoreNow(): Promise<string> {
    return `The chat model gave it ${percentText(await score())}. Where a person has scored the call, theirs counts.`
  }

  return (
    <Buttons>
      <GiveScore about={partiesText(call)} criteria={qa?.criteria.map(({ name }) => name) ?? []} onGive={score} />
      <RunButton label="Have the model score it" onRun={scoreNow} />
    </Buttons>
  )
}
