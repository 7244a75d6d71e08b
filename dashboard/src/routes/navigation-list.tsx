import { Link } from '@tanstack/react-router'
import { isAtLeast, usePerson } from '../api/session.ts'
import { useCurrentTenant } from '../api/tenants.ts'
import { Icon } from '../components/icon.tsx'
import { PLACES } from './navigation.ts'
import styles from './navigation-list.module.css'

/** The places that whoever is logged in may go to. */
export function NavigationList({ onGo }: { onGo?: () => void }) {
  const { role } = usePerson()
  const tenantId = useCurrentTenant()
  const shown = PLACES.filter(({ to, needs }) => isAtLeast(role, needs) && (tenantId !== null || !isOfTenant(to)))
  return (
    <nav aria-label="Pages">
      <ul className={styles.list}>
        {shown.map(({ to, label, icon }) => (
          <li key={to}>
            <Link
              to={to}
              params={tenantId === null ? {} : { tenantId }}
              className={styles.place}
              activeOptions={{ exact: to === '/' }}
              activeProps={{ className: styles.here }}
              onClick={onGo}
            >
              <Icon name={icon} />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function isOfTenant(to: string): boolean {
  return to.startsWith('/t/')
}
