import { Textarea, TextInput } from '@mantine/core'
import { type Form, ModalForm } from '../../components/modal-form.tsx'
import type { Verdict } from './call-queries.ts'
import { type GivenPart, NO_PART, ScoreParts } from './score-parts.tsx'

type Given = { percent: string; summary: string; parts: GivenPart[] }

const SUMMARY_CHARS = 2_000

type GiveScoreProps = {
  /** Whose call it was. */
  about: string
  /** By what the call was judged before. */
  criteria: string[]
  onGive: (verdict: Verdict) => Promise<unknown>
}

/** Takes down how good a person finds the call: from then on that is its score. */
export function GiveScore({ about, criteria, onGive }: GiveScoreProps) {
  const initial: Given = { percent: '', summary: '', parts: criteria.map((name) => ({ ...NO_PART, name })) }
  return (
    <ModalForm
      label="Give a score"
      about={about}
      submit="Give the score"
      variant="default"
      size="xs"
      initial={initial}
      onSubmit={(given) => onGive(verdictOf(given))}
    >
      {(form) => <ScoreFields form={form} />}
    </ModalForm>
  )
}

function ScoreFields({ form: { values, set, fault } }: { form: Form<Given> }) {
  return (
    <>
      <TextInput
        type="number"
        label="Score in percent"
        description="From 80 on the call counts as a good one. It counts before what the chat model says."
        min={0}
        max={100}
        step={1}
        required
        value={values.percent}
        error={fault('score')}
        onChange={(event) => set({ percent: event.currentTarget.value })}
      />
      <Textarea
        label="Summary"
        description="It becomes that of the call."
        rows={3}
        maxLength={SUMMARY_CHARS}
        value={values.summary}
        error={fault('summary')}
        onChange={(event) => set({ summary: event.currentTarget.value })}
      />
      <ScoreParts parts={values.parts} onChange={(parts) => set({ parts })} />
    </>
  )
}

function verdictOf({ percent, summary, parts }: Given): Verdict {
  const scored = parts.filter((part) => part.percent !== '')
  return {
    score: Number(percent) / 100,
    summary: summary.trim() || null,
    criteria: scored.map(({ name, percent: of, reason }) => ({
      ...{ name: name.trim(), score: Number(of) / 100, reason: reason.trim() || null },
    })),
  }
}
