import { Button } from '@mantine/core'
import { type ApiFailure, asFailure } from '../api/failure.ts'
import styles from './states.module.css'
import { useHandedOnFocus } from './use-handed-on-focus.ts'

type FailureStateProps = { error: unknown; onRetry?: () => void }

/** What went wrong, in the words of the service, with what to give to whoever looks into its log. */
export function FailureState({ error, onRetry }: FailureStateProps) {
  const failure = asFailure(error)
  const { message, code, requestId, waitSeconds, faults } = failure
  return (
    <div className={`${styles.state} ${styles.failure}`} role="alert">
      <p className={styles.lead}>{message}</p>
      {faults.length > 1 && (
        <ul className={styles.faults}>
          {faults.map(({ path, message: fault }) => (
            <li key={path + fault}>
              <span className="mono">{path}</span> {fault}
            </li>
          ))}
        </ul>
      )}
      {waitSeconds !== null && !message.includes(` ${waitSeconds} s`) && <p>Worth asking again in {waitSeconds} s.</p>}
      <p className={styles.trace}>
        <span className="mono">{code}</span>
        {requestId && (
          <>
            {' · request '}
            <span className="mono">{requestId}</span>
          </>
        )}
      </p>
      {onRetry && mayPass(failure) && <TryAgain onRetry={onRetry} />}
    </div>
  )
}

/** As a rule what failed is told no longer once it is pressed. */
function TryAgain({ onRetry }: { onRetry: () => void }) {
  const button = useHandedOnFocus()
  return (
    <Button ref={button} variant="default" size="xs" onClick={onRetry}>
      Try again
    </Button>
  )
}

/** Whether the same request may be answered another time. */
function mayPass({ status }: ApiFailure): boolean {
  return status < 400 || status === 408 || status === 429 || status >= 500
}
