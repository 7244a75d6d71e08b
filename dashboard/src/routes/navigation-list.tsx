import { Link } from '@tanstack/react-router'
import { isAtLeast, usePerson } from '../api/session.ts'
import { useCurrentTenant, useTenants } from '../api/tenants.ts'
import { Icon } from '../components/icon.tsx'
import { PLACES, type Place } from './navigation.ts'
import styles from './navigation-list.module.css'

/** The places that whoever is logged in may go to. */
export function NavigationList({ onGo }: { onGo?: () => void }) {
  const { role } = usePerson()
  const tenantId = useCurrentTenant()
  const isAsked = useTenants() === undefined
  const isOpen = ({ to }: Place) => tenantId === null && isOfTenant(to)
  const shown = PLACES.filter((place) => isAtLeast(role, place.needs) && (isAsked || !isOpen(place)))
  return (
    <nav aria-label="Pages">
      <ul className={styles.list}>
        {shown.map((place) =>
          isOpen(place) ? (
            <PlaceToBe key={place.to} {...place} />
          ) : (
            <li key={place.to}>
              <Link
                to={place.to}
                params={tenantId === null ? {} : { tenantId }}
                className={styles.place}
                activeOptions={{ exact: place.to === '/' }}
                activeProps={{ className: styles.here }}
                onClick={onGo}
              >
                <Icon name={place.icon} />
                {place.label}
              </Link>
            </li>
          ),
        )}
      </ul>
    </nav>
  )
}

/** Where a place will be once a tenant is known: the others stand where they will stand. */
function PlaceToBe({ icon, label }: Place) {
  return (
    <li className={styles.open}>
      <span className={styles.place}>
        <Icon name={icon} />
        {label}
      </span>
    </li>
  )
}

function isOfTenant(to: string): boolean {
  return to.startsWith('/t/')
}
