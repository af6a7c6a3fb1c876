"""What an author says of the model that makes vectors of texts: options of a check and of a scorer."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rulebook.evidence.likeness import DEFAULT_MODEL
from rulebook.languages.endpoint_fields import AddressField, VariableField


class EmbeddingOptions(BaseModel):
    """Who is asked for vectors, and where."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    model: Annotated[str, Field(min_length=1)] = Field(
        DEFAULT_MODEL, description="Which embedding model is asked: an alias or `provider/model`."
    )
    base_url: AddressField | None = Field(
        None, description="An OpenAI-compatible endpoint, in place of a provider of `rulebook.toml`."
    )
    api_key_env: VariableField | None = Field(None, description="The name of the variable that holds its key.")
