import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useHoldRole } from '../../api/held-role.ts'
import { useSimulated } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { useLiveConversation } from '../../api/use-live-conversation.ts'
import { type UsedLine, useAudioLine } from '../../audio/use-audio-line.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { LineControls } from '../../components/line-controls.tsx'
import { LiveConversationView } from '../../components/live-conversation.tsx'
import { Note } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { useUnsaved } from '../../components/unsaved-changes.tsx'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import styles from './talk-page.module.css'
import {
  openCall,
  type Sayings,
  sayingsQuery,
  type TalkChoice,
  type Talker,
  talkersQuery,
  talkingQuery,
} from './talk-queries.ts'
import { TalkerChoice } from './talker-choice.tsx'

/** Where somebody calls an agent from the browser, as a caller would. */
export function TalkPage() {
  const tenantId = useTenant()
  const { data: talkers, error, refetch } = useQuery(talkersQuery(tenantId))
  const { model: isScripted } = useSimulated()
  return (
    <Page title="Talk" description="Call one of your agents from here. It hears and answers as on the telephone.">
      {isScripted && (
        <Note>
          This is a rehearsal: the agent follows a script. It hears that you speak, but it does not understand what you
          say. Set OPENAI_API_KEY to talk to it for real.
        </Note>
      )}
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {talkers === undefined && !error && <Skeleton height={240} radius="md" />}
      {talkers?.length === 0 && !error && (
        <EmptyState title="There is no agent to talk to">
          Make an agent and a first version of it; a draft will do.{' '}
          <a href="/docs/getting-started">How, step by step</a>
        </EmptyState>
      )}
      {talkers?.[0] && <Talk tenantId={tenantId} talkers={talkers} first={talkers[0]} />}
    </Page>
  )
}

const NOTHING: Sayings = { hasPublished: false, versions: [] }

type TalkProps = { tenantId: string; talkers: Talker[]; first: Talker }

function Talk({ tenantId, talkers, first }: TalkProps) {
  const line = useAudioLine()
  const asked: TalkChoice = useSearch({ strict: false })
  const navigate = useNavigate()
  const talker = talkers.find(({ agentKey }) => agentKey === asked.agent_key) ?? first
  const own = useQuery({ ...sayingsQuery(tenantId, talker.id), enabled: talker.sayings === null })
  const known = talker.sayings ?? own.data
  const sayings = known ?? NOTHING
  const choice = soundChoice(talker.agentKey, sayings, asked)
  const isBusy = line.phase === 'opening' || line.phase === 'open'
  const controls = useKeptFocus(isBusy)
  useHoldRole(line.failure !== null)
  useUnsaved(line.phase === 'open', 'line')
  const { data: agentName = null } = useQuery({
    ...talkingQuery(tenantId, line.grant?.streamSid ?? ''),
    enabled: line.phase === 'open',
  })
  const choose = (search: TalkChoice) => void navigate({ to: '.', search: search as never, replace: true })
  const call = () => line.open('call', () => openCall(tenantId, choice))

  return (
    <div className={styles.columns}>
      <Panel title="Your call">
        <div className={styles.controls} ref={controls} tabIndex={-1}>
          <TalkerChoice {...{ talkers, talker, sayings, choice }} disabled={isBusy} onChoose={choose} />
          {known === undefined && own.error && <FailureState error={own.error} onRetry={() => void own.refetch()} />}
          {known?.versions.length === 0 && <p>It says nothing yet: draft its first version.</p>}
          {line.failure && <FailureState error={line.failure} onRetry={call} />}
          {isBusy ? (
            <LineControls line={line} other={agentName ?? 'Agent'} hangUp="Hang up" hasKeypad />
          ) : (
            <Button
              size="md"
              leftSection={<Icon name="talk" />}
              disabled={sayings.versions.length === 0}
              onClick={call}
            >
              Call
            </Button>
          )}
        </div>
      </Panel>
      <Talked key={line.grant?.streamSid ?? ''} tenantId={tenantId} line={line} agentName={agentName} />
    </div>
  )
}

/** What the address says, as far as the agent has it. */
function soundChoice(agentKey: string, { hasPublished, versions }: Sayings, asked: TalkChoice): TalkChoice {
  const version = versions.find(({ id }) => id === asked.agent_version_id) ?? (hasPublished ? undefined : versions[0])
  return { agent_key: agentKey, ...(version && { agent_version_id: version.id }) }
}

type TalkedProps = { tenantId: string; line: UsedLine; agentName: string | null }

function Talked({ line, ...props }: TalkedProps) {
  if (line.grant) return <TalkedCall line={line} grant={line.grant} {...props} />
  return (
    <EmptyState title="What is said will stand here">
      Press Call and speak when you are greeted. You can talk over the agent: it stops and listens.
    </EmptyState>
  )
}

function TalkedCall({ tenantId, line, grant, agentName }: TalkedProps & { grant: NonNullable<UsedLine['grant']> }) {
  const followed = useLiveConversation({ tenantId, streamSid: grant.streamSid, sessionId: null })
  const isOver = line.phase === 'over'
  // Of a line that is closed nothing more can be asked, and the end is known here.
  const shown = isOver ? { ...followed, isFollowed: false, failure: null } : followed
  return (
    <div>
      <LiveConversationView followed={shown} agentName={agentName} silence={<Waiting />} />
      {isOver && (
        <p>
          <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid: grant.callSid }}>
            Read and hear this call again
          </Link>
        </p>
      )}
    </div>
  )
}

function Waiting() {
  return <EmptyState title="The line is open">The agent greets you in a moment.</EmptyState>
}
