import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { asFailure } from '../../api/failure.ts'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { Conversation } from '../../components/conversation.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FailureState } from '../../components/failure-state.tsx'
import { Panel } from '../../components/panel.tsx'
import { phoneText } from '../../components/text.ts'
import { ClaimNext } from './claim-next.tsx'
import styles from './desk.module.css'
import { Keyed, Shortcuts } from './shortcuts.tsx'
import { TaskActions } from './task-actions.tsx'
import { TaskFacts } from './task-facts.tsx'
import { TaskHistory } from './task-history.tsx'
import { type Task, taskCallQuery, taskQuery } from './task-queries.ts'
import { TaskPriority, TaskStatus, TaskTime } from './task-status.tsx'

const REFRESH_MS = 10_000

/** One task: what is wanted, the call in which it was, what can be done, what was done. */
export function TaskPage() {
  const tenantId = useTenant()
  const { taskId = '' } = useParams({ strict: false })
  const mayAct = useMay('operator')
  const { data: task, error, refetch } = useQuery({ ...taskQuery(tenantId, taskId), refetchInterval: REFRESH_MS })
  return (
    <DetailPage
      title={task ? phoneText(task.customer_phone) : 'Callback'}
      above={
        <Keyed letter="u" says="Up to the desk">
          <BackLink to="/t/$tenantId/desk" params={{ tenantId }}>
            Desk
          </BackLink>
        </Keyed>
      }
      description={task && <TaskBadges task={task} />}
      actions={
        <>
          {mayAct && task && (
            <ClaimNext
              key={task.queue_key}
              {...{ tenantId, queueKey: task.queue_key }}
              isLater={!isOver(task.status)}
            />
          )}
          <Shortcuts />
        </>
      }
      thing={task}
      error={error}
      onRetry={() => void refetch()}
    >
      {(known) => (
        <>
          {mayAct && <TaskActions key={known.id} tenantId={tenantId} task={known} />}
          <div className={styles.beside}>
            <div className={styles.below}>
              <TaskFacts tenantId={tenantId} task={known} />
              <TaskHistory tenantId={tenantId} id={known.id} />
            </div>
            {known.call_sid === null ? <NoCall /> : <TaskCall tenantId={tenantId} callSid={known.call_sid} />}
          </div>
        </>
      )}
    </DetailPage>
  )
}

/** Nothing is to be done with it any more. */
function isOver(status: Task['status']): boolean {
  return status === 'completed' || status === 'cancelled'
}

function TaskBadges({ task }: { task: Task }) {
  return (
    <span className={styles.badges}>
      <TaskStatus status={task.status} />
      <TaskPriority priority={task.priority} />
      <TaskTime task={task} />
    </span>
  )
}

function TaskCall({ tenantId, callSid }: { tenantId: string; callSid: string }) {
  const { data: session, error, refetch } = useQuery(taskCallQuery(tenantId, callSid))
  if (error && asFailure(error).status !== 404) return <FailureState error={error} onRetry={() => void refetch()} />
  if (error || session === null) return <NoCall />
  return (
    <div className={styles.below}>
      {session && <Conversation turns={session.transcript} agentName={session.agent_name} isLive={false} />}
      <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid }}>
        The whole call
      </Link>
    </div>
  )
}

function NoCall() {
  return (
    <Panel title="Conversation">
      <EmptyState title="No call belongs to it">
        The callback was asked for by a program, or what was said has been deleted.
      </EmptyState>
    </Panel>
  )
}
