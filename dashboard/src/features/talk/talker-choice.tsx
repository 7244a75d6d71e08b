import { NativeSelect } from '@mantine/core'
import type { Sayings, TalkChoice, Talker } from './talk-queries.ts'

type TalkerChoiceProps = {
  talkers: Talker[]
  talker: Talker
  sayings: Sayings
  choice: TalkChoice
  disabled: boolean
  onChoose: (choice: TalkChoice) => void
}

/** Which agent is called, and whether as callers get it or in an exact version. */
export function TalkerChoice({ talkers, talker, sayings, choice, disabled, onChoose }: TalkerChoiceProps) {
  const { agentKey } = talker
  const { hasPublished, versions } = sayings
  const published = hasPublished ? [{ value: '', label: 'What callers get' }] : []
  return (
    <>
      <NativeSelect
        label="Agent"
        disabled={disabled}
        data={talkers.map((each) => ({ value: each.agentKey, label: each.name }))}
        value={agentKey}
        onChange={(event) => onChoose({ agent_key: event.currentTarget.value })}
      />
      <NativeSelect
        label="Version"
        disabled={disabled}
        data={[...published, ...versions.map(({ id, label }) => ({ value: id, label }))]}
        value={choice.agent_version_id ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget
          onChoose({ agent_key: agentKey, ...(value !== '' && { agent_version_id: value }) })
        }}
      />
    </>
  )
}
