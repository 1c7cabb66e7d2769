"""Where the pinned MiniStack departs from AWS in a way that would force something untrue into the product.

Each entry says what AWS does and where that is written. Whoever raises the pinned version looks here first.
"""

import json
import re

from ministack.core import iam_actions
from ministack.services import secretsmanager
from ministack.services.cloudformation import provisioners

# A batch call has no IAM action of its own: "sqs:SendMessage" covers it (Service Authorization Reference, Amazon SQS).
SQS_BATCHES = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
}

# A statement needs the action of its verb on the table or index it names (DynamoDB developer guide, "IAM security
# policies with PartiQL"). MiniStack asks for an action named after the call, on "*".
PARTIQL_CALLS = ("dynamodb:ExecuteStatement", "dynamodb:BatchExecuteStatement", "dynamodb:ExecuteTransaction")
PARTIQL_TARGET = re.compile(
    r"""^\s*(?:(UPDATE)|(INSERT)\s+INTO|(DELETE)\s+FROM|(?:(?:EXISTS\s*\(\s*)?(SELECT)\b.*?\bFROM))"""
    r"""\s+"?([\w.-]+?)"?(?:\."([\w.-]+)")?(?=[\s)]|$)""",
    re.IGNORECASE | re.DOTALL,
)


def correct_sqs_actions() -> None:
    original = iam_actions.extract_iam_action

    def extract_iam_action(*args, **kwargs):
        action = original(*args, **kwargs)
        return SQS_BATCHES.get(action, action)

    iam_actions.extract_iam_action = extract_iam_action


def partiql_check(statement: str, region: str, account: str) -> "tuple[str, str]":
    match = PARTIQL_TARGET.match(statement)
    if match is None:
        return "dynamodb:PartiQLSelect", "*"
    *verbs, table, index = match.groups()
    verb = next(word for word in verbs if word).capitalize()
    arn = f"arn:aws:dynamodb:{region}:{account}:table/{table}"
    return f"dynamodb:PartiQL{verb}", f"{arn}/index/{index}" if index else arn


def correct_partiql_actions() -> None:
    original = iam_actions.dynamodb_transaction_checks

    def dynamodb_transaction_checks(iam_action, body, region, account_id):
        if iam_action not in PARTIQL_CALLS:
            return original(iam_action, body, region, account_id)
        request = json.loads(body or b"{}")
        statements = request.get("Statements") or request.get("TransactStatements") or [request]
        return [partiql_check(str(one.get("Statement", "")), region, account_id) for one in statements]

    iam_actions.dynamodb_transaction_checks = dynamodb_transaction_checks


def correct_secrets_of_stacks() -> None:
    """Ref of a secret is its ARN, and all of GenerateSecretString counts (CloudFormation, AWS::SecretsManager::Secret)."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]
    create, update, delete = handlers["create"], handlers["update"], handlers["delete"]
    written_out = provisioners._sm_secret_string

    def name_of(arn):
        return secretsmanager._resolve(arn)[0] or arn

    def secret_string(props):
        wanted = props.get("GenerateSecretString")
        if not wanted or props.get("SecretString"):
            return written_out(props)
        status, _, body = secretsmanager._get_random_password(wanted)
        if status >= 400:
            raise ValueError(body.decode())
        password = json.loads(body)["RandomPassword"]
        if "SecretStringTemplate" not in wanted:
            return password
        return json.dumps({**json.loads(wanted["SecretStringTemplate"]), wanted["GenerateStringKey"]: password})

    def create_secret(*args, **kwargs):
        _, attributes = create(*args, **kwargs)
        return attributes["Arn"], attributes

    def update_secret(physical_id, *args, **kwargs):
        _, attributes = update(name_of(physical_id), *args, **kwargs)
        return attributes["Arn"], attributes

    def delete_secret(physical_id, *args, **kwargs):
        return delete(name_of(physical_id), *args, **kwargs)

    provisioners._sm_secret_string = secret_string
    handlers.update(create=create_secret, update=update_secret, delete=delete_secret)


def correct_concurrency_of_mappings() -> None:
    """A parameter's text becomes the number that a property takes (CloudFormation resource specification, Integer)."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Lambda::EventSourceMapping"]
    create, update = handlers["create"], handlers["update"]

    def with_numbers(props):
        scaling = props.get("ScalingConfig")
        if not scaling:
            return props
        return {**props, "ScalingConfig": {name: int(value) for name, value in scaling.items()}}

    def create_mapping(logical_id, props, *args, **kwargs):
        return create(logical_id, with_numbers(props), *args, **kwargs)

    def update_mapping(physical_id, old, new, *args, **kwargs):
        return update(physical_id, with_numbers(old), with_numbers(new), *args, **kwargs)

    handlers.update(create=create_mapping, update=update_mapping)


# A stream's writes are asked for on the stream, "log-group:GROUP:log-stream:STREAM", which the ":*" of a group's ARN
# covers (Service Authorization Reference, Amazon CloudWatch Logs; API reference, LogGroup, arn). MiniStack asks for
# them on the bare group.
LOG_STREAM_CALLS = ("CreateLogStream", "PutLogEvents")


def correct_log_streams() -> None:
    original = iam_actions.extract_resource_arn

    def extract_resource_arn(service, method, path, headers, body, *args, **kwargs):
        arn = original(service, method, path, headers, body, *args, **kwargs)
        call = headers.get("x-amz-target", "").rsplit(".", 1)[-1]
        if service != "logs" or call not in LOG_STREAM_CALLS:
            return arn
        return f"{arn}:log-stream:{json.loads(body or b'{}').get('logStreamName', '')}"

    iam_actions.extract_resource_arn = extract_resource_arn


def correct_changes_of_mappings() -> None:
    """Changing a mapping needs the action of its call (Service Authorization Reference, AWS Lambda); MiniStack asks none."""
    original = iam_actions._lambda_action

    def lambda_action(method, path):
        parts = [part for part in path.split("/") if part]
        if "event-source-mappings" in parts and method in ("PUT", "DELETE"):
            return "UpdateEventSourceMapping" if method == "PUT" else "DeleteEventSourceMapping"
        return original(method, path)

    iam_actions._lambda_action = lambda_action


def apply() -> None:
    correct_sqs_actions()
    correct_partiql_actions()
    correct_log_streams()
    correct_changes_of_mappings()
    correct_secrets_of_stacks()
    correct_concurrency_of_mappings()
