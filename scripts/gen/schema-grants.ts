/** Shared by the parts of the schema dump: whose objects are shown, and how their grants are written. */

export const ours = "'headroom_owner'::regrole";

/** Grants of an ACL column as sorted statements; the owner's own rights are left out. */
export function grantsOf(acl: string, kind: string, owner: string, object: string): string {
  return `(select string_agg(format('grant %s on %s to %s;', g.list, ${object}, g.who), E'\\n' order by g.who)
             from (select coalesce(quote_ident(r.rolname), 'public') as who,
                          string_agg(lower(x.privilege_type) || case when x.is_grantable then ' with grant option' else '' end,
                                     ', ' order by x.privilege_type) as list
                     from aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) x
                     left join pg_roles r on r.oid = x.grantee
                    where x.grantee <> ${owner}
                    group by 1) g)`;
}
