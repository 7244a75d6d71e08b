import { Button, NativeSelect } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { asFailure } from '../../api/failure.ts'
import { useMay } from '../../api/session.ts'
import { Comparison } from '../../components/comparison.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Buttons, Column } from '../../components/fields.tsx'
import { NoAnswerYet } from '../../components/no-answer-yet.tsx'
import { Panel } from '../../components/panel.tsx'
import { useUnsaved } from '../../components/unsaved-changes.tsx'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import { putRollout, type Rollout, rolloutQuery, type Share, type Version } from './agent-queries.ts'
import { LostShares } from './lost-shares.tsx'
import styles from './rollout-panel.module.css'
import { ShareRow } from './share-row.tsx'
import { isSameShare, restOf, sharesOfOthers, sumOf, withShare } from './shares.ts'

type RolloutPanelProps = { tenantId: string; agentId: string; versions: Version[] }

/** Which versions answer a share of the calls. */
export function RolloutPanel({ tenantId, agentId, versions }: RolloutPanelProps) {
  const query = rolloutQuery(tenantId, agentId)
  const { data: stored, error, refetch } = useQuery(query)
  const client = useQueryClient()
  const mayChange = useMay('admin')
  const [edited, setEdited] = useState<Rollout | null>(null)
  useUnsaved(edited !== null)
  const save = useMutation({
    mutationFn: (rollout: Rollout) => putRollout(tenantId, agentId, rollout),
    onSuccess: (written, sent) => {
      client.setQueryData(query.queryKey, written)
      noteStored(written, sent)
    },
    onError: async (failure, sent) => {
      if (asFailure(failure).status !== 409) return
      const { data: now } = await refetch()
      // Somebody else has saved the very same: there is nothing to choose.
      if (now && isSameShare(now.shares, sent.shares)) {
        noteStored(now, sent)
        save.reset()
      }
    },
  })

  /** What was changed since that was sent stays, over what is stored now. */
  function noteStored({ etag }: Rollout, sent: Rollout): void {
    setEdited((now) => (now && now.shares !== sent.shares ? { ...now, etag } : null))
  }

  const isStale = save.error !== null && asFailure(save.error).status === 409
  const rollout = edited ?? stored
  const place = useKeptFocus([rollout?.shares.length, edited === null, isStale, save.isPending].join())
  if (rollout === undefined)
    return (
      <Panel title="Rollout">
        {error ? <FailureState error={error} onRetry={() => void refetch()} /> : 'Reading…'}
      </Panel>
    )

  /** Of what is stored now, nothing has failed. */
  function take(): void {
    setEdited(null)
    save.reset()
  }

  const change = (shares: Share[]) => setEdited({ etag: rollout.etag, shares })
  return (
    <Panel title="Rollout" aside="Callers stay with the version that they got">
      <div ref={place} tabIndex={-1}>
        <Column>
          <Shares versions={versions} shares={rollout.shares} onChange={mayChange ? change : null} />
          {stored?.lost && <LostShares lost={stored.lost} />}
          {save.error && !isStale && <FailureState error={save.error} />}
          {isStale && stored && edited && (
            <Stale
              {...{ versions, stored, edited }}
              onTake={take}
              onKeep={() => save.mutate({ ...edited, etag: stored.etag })}
            />
          )}
          <NoAnswerYet isBusy={save.isPending} />
          {mayChange && !isStale && (
            <Buttons>
              <Button
                disabled={edited === null}
                loading={save.isPending}
                onClick={() => edited !== null && save.mutate(edited)}
              >
                Save the rollout
              </Button>
              {edited !== null && (
                <Button variant="default" disabled={save.isPending} onClick={take}>
                  Undo
                </Button>
              )}
            </Buttons>
          )}
        </Column>
      </div>
    </Panel>
  )
}

type SharesProps = { versions: Version[]; shares: Share[]; onChange: ((shares: Share[]) => void) | null }

function Shares({ versions, shares, onChange }: SharesProps) {
  const published = versions.find(({ status }) => status === 'published')
  const free = versions.filter(
    ({ id, status }) => status !== 'published' && !shares.some(({ agent_version_id }) => agent_version_id === id),
  )
  const rest = restOf(shares)
  if (!published) return <p className={styles.rest}>Publish a version first: calls are shared with that one.</p>
  // It may have a share of its own, too.
  const others = sharesOfOthers(shares, published.id)
  const own = sumOf(shares.filter((share) => !others.includes(share)))
  return (
    <>
      {shares.length > 0 && (
        <ul className={styles.shares}>
          {shares.map(({ agent_version_id: id, traffic_percentage: percent }) => (
            <ShareRow
              key={id}
              name={versionName(versions, id)}
              percent={percent}
              onChange={onChange && ((wanted) => onChange(withShare(shares, id, wanted)))}
              onRemove={onChange && (() => onChange(sharesOfOthers(shares, id)))}
            />
          ))}
        </ul>
      )}
      <p className={styles.rest}>
        Version {published.version_number}, the published one, answers{' '}
        {others.length === 0 ? 'all calls' : `${restOf(others)}%`}.
        {own > 0 && ` Of these ${own}% stay with it when another version is published.`}
      </p>
      {onChange && free.length > 0 && (
        <NativeSelect
          label="Give a share to"
          data={[{ value: '', label: 'Choose a version' }, ...free.map(({ id }) => choiceOf(versions, id))]}
          value=""
          onChange={({ currentTarget: { value } }) => {
            if (value !== '') onChange([...shares, { agent_version_id: value, traffic_percentage: Math.min(10, rest) }])
          }}
        />
      )}
    </>
  )
}

type StaleProps = {
  versions: Version[]
  stored: Rollout
  edited: Rollout
  onTake: () => void
  onKeep: () => void
}

/** Somebody else has changed the rollout: both, and what is to be. */
function Stale({ versions, stored, edited, onTake, onKeep }: StaleProps) {
  const told = ({ shares }: Rollout) =>
    Object.fromEntries(
      shares.map(({ agent_version_id: id, traffic_percentage }) => [
        versionName(versions, id),
        `${traffic_percentage}%`,
      ]),
    )
  return (
    <Column>
      <p role="alert">Somebody else changed the rollout meanwhile. Which one is to be?</p>
      <Comparison
        before={{ title: 'Stored now', value: told(stored) }}
        after={{ title: 'Yours', value: told(edited) }}
      />
      <Buttons>
        <Button onClick={onKeep}>Save mine</Button>
        <Button variant="default" onClick={onTake}>
          Take the stored one
        </Button>
      </Buttons>
    </Column>
  )
}

function versionName(versions: Version[], wanted: string): string {
  const version = versions.find(({ id }) => id === wanted)
  return version ? `Version ${version.version_number}` : 'An older version'
}

function choiceOf(versions: Version[], id: string) {
  return { value: id, label: versionName(versions, id) }
}
